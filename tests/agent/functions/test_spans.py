"""Kernel spans on their way from a contestant's process to the facts beside a time, and what goes on without them.

Here solutions write spans of their own into their answers, since there is no GPU.
"""

import json
import socket
import struct
import subprocess
import uuid
from pathlib import Path
from threading import Thread
from types import SimpleNamespace
from typing import Any

import pytest

from problems.spec.record import ProblemRecord
from runners.agent.ground.errors import Cancelled, SandboxFault
from runners.agent.ground.native import default_cache_directory
from runners.agent.judges.function import contestants, library
from runners.agent.judges.function import judge as function_judge
from runners.agent.judges.function import spans as function_spans
from runners.agent.judges.function.inside import messages
from runners.agent.judges.function.inside.clock import NO_BRAKE, Clock, Link, Status, Times
from runners.agent.judges.function.inside.cuda_arrays import CudaArrays
from runners.agent.judges.function.inside.match import span_facts
from runners.agent.judges.function.spans import library_for
from runners.agent.judges.function.subject import FILLING_CALL, INSIDE
from runners.agent.judges.report import Finished
from runners.agent.profilers import cupti_library
from runners.wire.protocol import Role, TimingPolicy, Verdict
from tests.agent.functions.table import SCALE, SCALE_PYTHON, Table, checkers_of, problem, source
from tests.patience import SOON

ON_CPU, ON_GPU = (SimpleNamespace(device=device) for device in ("cpu", "cuda"))
"""Subjects."""
TELLS = f"""
import sys
import judge.messages

frame = sys._getframe()
while "order" not in frame.f_locals:
    frame = frame.f_back
plain = judge.messages.done
if frame.f_locals["order"].spans:
    judge.messages.done = lambda index, _: plain(index, (1.0, 1.0, float(index)))
{SCALE_PYTHON}"""
"""The span of its n-th call is n milliseconds."""
MARKER = f"# {uuid.uuid4().hex}\n"
"""Of the class: its checker can be told from all others."""
ENDS = TELLS.replace("    judge.messages.done = ", "    import os\n    os._exit(3)\n    done = ")


@pytest.fixture(scope="module")
def native(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a contestant's program that does nothing, and of a device that does nothing."""
    folder = tmp_path_factory.mktemp("native")
    (folder / "call.cpp").write_text(FILLING_CALL["cpu"])
    sources = [str(INSIDE / "contestant.cpp"), "call.cpp"]
    subprocess.run(["g++", "-std=c++17", *sources, "-o", "contestant", "-ldl"], cwd=folder, check=True)
    fake = str(Path(__file__).parent / "fake_device.c")
    subprocess.run(["gcc", "-shared", "-fPIC", fake, "-o", "libcuda.so.1"], cwd=folder, check=True)
    return folder


@pytest.mark.parametrize(
    ("spans", "told_ms"), [("libcuda.so.1", [1.5, 1.5, 1.25]), ("nowhere.so", [1.5, 1.5]), (None, [1.5, 1.5])]
)
def test_a_native_process_tells_the_span_if_it_is_asked_for(
    native: Path, spans: str | None, told_ms: list[float]
) -> None:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    environment = {
        "LD_LIBRARY_PATH": str(native),
        "PODIUM_FUNCTION_ARRAYS": "torch cuda",
        "PODIUM_CHANNEL_FD": str(theirs.fileno()),
        **({"PODIUM_SPANS": str(native / spans)} if spans else {}),
    }
    with ours, theirs, subprocess.Popen([native / "contestant"], env=environment, pass_fds=[theirs.fileno()]):
        ours.settimeout(SOON)
        assert ours.recv(messages.MOST_BYTES)[4] == messages.LOADED
        ours.send(messages.head(messages.GO, index=1, count=1))
        answer = ours.recv(messages.MOST_BYTES)
        ours.shutdown(socket.SHUT_RDWR)
    assert answer[4] == messages.DONE
    assert list(struct.unpack(f"<{len(told_ms)}f", answer[messages.HEAD.size :])) == told_ms


@pytest.mark.parametrize(
    ("spans", "told_ms"), [(SimpleNamespace(end_ms=lambda: 2.0), (1.5, 1.5, 2.0)), (None, (1.5, 1.5))]
)
def test_a_python_process_tells_the_span_if_it_is_asked_for(spans: Any, told_ms: tuple[float, ...]) -> None:
    event = SimpleNamespace(record=int, synchronize=int, elapsed_time=lambda _: 1.5)
    arrays = CudaArrays.__new__(CudaArrays)
    arrays.__dict__ |= {
        "_torch": SimpleNamespace(cuda=SimpleNamespace(synchronize=int)), "_spans": spans,
        "_begun": event, "_left": event, "_ended": event,
    }  # fmt: skip
    assert arrays.synchronize() == told_ms


@pytest.mark.parametrize(
    ("told_ms", "seen_ms"),
    [
        ((1.5, 1.25, 0.75), 0.75),
        ((1.5, 1.25), 0.0),
        ((), 0.0),
        ((1.5, 1.25, float("nan")), 0.0),
        ((1.5, 1.25, -1), 0.0),
    ],
)
def test_the_clock_passes_the_span_of_an_answer_on(told_ms: tuple[float, ...], seen_ms: float) -> None:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)

    def answer() -> None:
        index = messages.HEAD.unpack(theirs.recv(messages.HEAD.size))[-1]
        theirs.send(messages.done(index, told_ms))

    with ours, theirs:
        contestant = Thread(target=answer)
        contestant.start()
        times = Clock(str(library.build(default_cache_directory()))).call(
            Link(ours.fileno(), NO_BRAKE), [], n_goes=1, n_calls=1, index=7, secret=1, poison=0, timeout_s=SOON,
            copies_all=False,
        )  # fmt: skip
        contestant.join()
    assert (times.status, times.span_ms) == (Status.DONE, seen_ms)
    assert (times.whole_ms, times.events_ms) == (told_ms[:2] or (0.0, 0.0))


def test_spans_count_if_every_call_has_one() -> None:
    first, second, silent = (Times(Status.DONE, 1, 0, 1, 0, 0, 0, "", span_ms=ms) for ms in (0.5, 0.75, 0.0))
    assert span_facts([first, second]) == {"span_ms": [0.5, 0.75]}
    assert span_facts([first, silent]) == span_facts([]) == {}


def test_there_is_no_library_on_a_cpu_or_without_cupti(monkeypatch: pytest.MonkeyPatch) -> None:
    found = cupti_library.Library(Path("/cache/libpodium_cupti.so"), "cupti")
    monkeypatch.setattr(cupti_library, "why_unavailable", lambda: "")
    monkeypatch.setattr(cupti_library, "find_or_build", lambda: found)
    assert (library_for(ON_CPU), library_for(ON_GPU)) == (None, found.path)
    monkeypatch.setattr(cupti_library, "why_unavailable", lambda: "this machine has no CUPTI")
    assert library_for(ON_GPU) is None


@pytest.fixture(scope="module")
def large() -> ProblemRecord:
    files = [source(TELLS).model_dump(mode="json")]
    return problem(
        MARKER + SCALE.replace('Case("few", n=7), Case("many", n=5000)', 'Case("many", n=1_000_000),'),
        baseline_solution={"type": "file", "task_id": "functions/1", "files": files},
    )


@pytest.fixture
def asked(table: Table, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The libraries that contestants of a sample were asked to use, under a `ranked` of few calls."""
    found: list[str] = []
    plain = contestants._order

    def order(entry: contestants.Entry) -> bytes:
        told = plain(entry)
        found.extend(filter(None, [json.loads(told)["spans"]]))
        return told

    monkeypatch.setattr(contestants, "_order", order)
    monkeypatch.setattr(function_judge, "RANKED_PROCESSES", 2)
    monkeypatch.setattr(function_judge, "has_drifted", lambda *_: False)
    for name, value in (("least_calls", 3), ("most_calls", 3), ("enough_seconds", 0.0)):
        monkeypatch.setitem(function_judge.RANKED, name, value)
    return found


@pytest.fixture
def as_on_a_gpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    library = tmp_path / "library.so"
    for folder in (tmp_path, *tmp_path.parents[:2]):
        folder.chmod(0o755)
    library.touch()
    monkeypatch.setattr(function_judge, "library_for", lambda _: library)
    return str(library)


def ranked(table: Table, record: ProblemRecord, solution: str) -> Finished:
    return table.judge(record, solution, timing_policy=TimingPolicy.RANKED, needs_baseline=True)


def spans_of(done: Finished) -> dict[Role, Any]:
    return {one.role: one.device.get("kernel_span_ms") for one in done.report.measurements}


@pytest.mark.rest
def test_the_median_of_fifty_calls_after_ten_is_shown_and_a_baseline_tells_it_once(
    table: Table, large: ProblemRecord, asked: list[str], as_on_a_gpu: str
) -> None:
    first = ranked(table, large, TELLS)
    assert first.report.verdict is Verdict.PASSED
    assert asked == [as_on_a_gpu] * 2
    span_ms = 10 + 25.5
    assert spans_of(first) == {Role.CANDIDATE: span_ms, Role.BASELINE: span_ms}
    second = ranked(table, large, SCALE_PYTHON)
    assert asked == [as_on_a_gpu] * 3
    assert spans_of(second) == {Role.CANDIDATE: None, Role.BASELINE: span_ms}


@pytest.mark.rest
def test_a_process_that_ends_early_costs_the_span_alone(
    table: Table, large: ProblemRecord, asked: list[str], as_on_a_gpu: str
) -> None:
    done = ranked(table, large, ENDS)
    assert (done.report.verdict, done.report.reason) == (Verdict.PASSED, "")
    assert spans_of(done)[Role.CANDIDATE] is None


def test_a_cpu_has_no_such_process(table: Table, large: ProblemRecord, asked: list[str]) -> None:
    done = ranked(table, large, TELLS)
    assert (done.report.verdict, asked) == (Verdict.PASSED, [])
    assert spans_of(done) == {Role.CANDIDATE: None, Role.BASELINE: None}


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> list[Exception]:
    """The exceptions with which processes that tell spans fail."""
    failures: list[Exception] = []
    plain = function_judge._Match.contest

    def contest(self: Any, entry: Any, plan: Any, *rest: Any, **named: Any) -> Any:
        if plan is function_spans.PLAN:
            raise failures[0]
        return plain(self, entry, plan, *rest, **named)

    monkeypatch.setattr(function_judge._Match, "contest", contest)
    return failures


@pytest.mark.rest
def test_a_fault_costs_the_span_and_renews_the_checker(
    table: Table, large: ProblemRecord, asked: list[str], as_on_a_gpu: str, failing: list[Exception]
) -> None:
    failing.append(SandboxFault("the device failed under the checker"))
    before = set(checkers_of(MARKER.strip()))
    for _ in range(2):
        done = ranked(table, large, TELLS)
        assert done.report.verdict is Verdict.PASSED
        assert spans_of(done) == {Role.CANDIDATE: None, Role.BASELINE: None}
    assert not before & set(checkers_of(MARKER.strip()))


@pytest.mark.rest
def test_a_cancelled_sample_ends_there_too(
    table: Table, large: ProblemRecord, asked: list[str], as_on_a_gpu: str, failing: list[Exception]
) -> None:
    failing.append(Cancelled())
    with pytest.raises(Cancelled):
        ranked(table, large, TELLS)
