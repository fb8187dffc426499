"""Kernel spans on a real GPU: what CUPTI tells of a process by itself, and of solutions that the judge times.

By hand, with the values that were measured:
python -m pytest -c /dev/null --rootdir=. --noconftest -q -s -x tests/gpu/test_kernel_spans_on_device.py
"""

# ruff: noqa: T201 - with -s the tests print the values that they measure

import json
import os
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from problems.spec.function.problem import FunctionProblem
from runners.agent.judges.function import judge as function_judge
from runners.agent.judges.function.spans import spans_ms
from runners.agent.judges.registry import Judges
from runners.agent.profilers import cupti_library
from runners.wire.protocol import MeasurementReport, Report, Role, TimingPolicy, Verdict
from tests.gpu import test_functions_on_device as functions
from tests.gpu.test_functions_on_device import HONEST, LARGE, LAUNCH, PYTHON, TRITON, judged
from tests.gpu.test_functions_on_device import judges as judges  # noqa: PLC0414 - the fixture
from tests.gpu.test_functions_on_device import problem as problem  # noqa: PLC0414 - the fixture

pytestmark = functions.pytestmark
ROOT = Path(__file__).parents[2]
PROCESS = """\
import json
import os

import torch
from runners.agent.judges.function.inside.spans import opened_spans

x = torch.rand(1 << 24, device="cuda")
host, y = torch.empty(1 << 20, pin_memory=True), torch.empty_like(x)
torch.cuda.synchronize()
spans = opened_spans(os.environ["PODIUM_SPANS"])


def kernels():
    for _ in range(200):
        torch.sin(x, out=y)


def copies_and_fills():
    y.zero_()
    host.copy_(y[: 1 << 20], non_blocking=True)
    y.copy_(x)


def told(work):
    begun, ended = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    torch.cuda._sleep(20_000_000)  # all is launched before the device comes to it
    begun.record()
    work()
    ended.record()
    torch.cuda.synchronize()
    return begun.elapsed_time(ended)


def spanned(work):
    spans.begin()
    work()
    torch.cuda.synchronize()
    return spans.end_ms()


for work in (kernels, copies_and_fills):
    [work() for _ in range(3)]
    torch.cuda.synchronize()
    events = [told(work) for _ in range(10)]
    print(json.dumps([work.__name__, events, [spanned(work) for _ in range(10)]]))
spans.begin()
torch.cuda.synchronize()
print(json.dumps(["nothing", [0.0], [spans.end_ms()]]))
"""


def test_a_process_tells_its_own_spans() -> None:
    """Without judge and sandbox. If this fails, CUPTI or its library is the cause."""
    assert cupti_library.why_unavailable() == ""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PODIUM_SPANS": str(cupti_library.find_or_build().path)}
    done = subprocess.run(
        [sys.executable, "-c", PROCESS], env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    print(done.stdout, done.stderr[-2000:])
    assert done.returncode == 0
    told = {name: (events, spans) for name, events, spans in map(json.loads, done.stdout.splitlines())}
    events, spans = told["kernels"]
    assert min(spans) > 0
    assert statistics.median(spans) == pytest.approx(statistics.median(events), rel=0.1)
    assert min(told["copies_and_fills"][1]) > 0
    assert told["nothing"][1] == [0.0]


@pytest.fixture(autouse=True)
def brief(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few ranked processes. What each process that tells spans did is printed."""
    monkeypatch.setattr(function_judge, "RANKED_PROCESSES", 2)

    def shown(problem: FunctionProblem, seen: Any) -> dict[str, float]:
        found = spans_ms(problem, seen)
        counts = [(one["verdict"], len(one.get("span_ms", ())), len(one["clock_ns"])) for one in seen.cases]
        print("\nspans", found, counts, seen.how, seen.words, seen.outcome.stderr[-1000:])
        return found

    monkeypatch.setattr(function_judge, "spans_ms", shown)


def ranked(judges: Judges, problem: FunctionProblem, name: str, content: str, *, baseline: bool = False) -> Report:
    report = judged(judges, problem, name, content, baseline=baseline, timing=TimingPolicy.RANKED)
    assert (report.verdict, report.reason) == (Verdict.PASSED, "")
    return report


def large(report: Report, role: Role) -> MeasurementReport:
    one = next(one for one in report.measurements if (one.case, one.role) == (LARGE, role))
    print(role.value, round(one.median_ms, 4), one.device)
    return one


@pytest.mark.parametrize(
    ("name", "content"),
    [("solution.cu", HONEST + LAUNCH), ("solution.py", PYTHON), ("solution.py", TRITON)],
    ids=["cuda", "torch", "triton"],
)
def test_a_span_agrees_with_device_events(judges: Judges, problem: FunctionProblem, name: str, content: str) -> None:
    one = large(ranked(judges, problem, name, content), Role.CANDIDATE)
    span_ms, events_ms = one.device["kernel_span_ms"], one.device["device_events_ms"]
    assert isinstance(span_ms, float)
    assert isinstance(events_ms, float)
    # tracing adds some ten microseconds between two kernels of a Python solution
    assert 0.95 * events_ms <= span_ms <= 1.05 * events_ms + 0.2 * (name != "solution.cu")


def test_a_baseline_tells_its_span_once(
    judges: Judges, problem: FunctionProblem, capsys: pytest.CaptureFixture[str]
) -> None:
    first = ranked(judges, problem, "solution.cu", HONEST + LAUNCH, baseline=True)
    assert all(large(first, role).device["kernel_span_ms"] for role in (Role.CANDIDATE, Role.BASELINE))
    capsys.readouterr()
    again = large(ranked(judges, problem, "solution.cu", HONEST + LAUNCH, baseline=True), Role.BASELINE)
    said = capsys.readouterr().out
    print(said)
    is_same = again.key == large(first, Role.BASELINE).key
    assert said.count("\nspans") == (1 if is_same else 2)
    assert again.device["kernel_span_ms"]
