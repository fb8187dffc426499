"""Reports of a node whose clock, seed and machine are injected, compared whole with stored ones.

`python -m tests.agent.test_golden_reports` writes the stored reports anew. Look at their diff before committing it.
"""

import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from socket import socket
from typing import Any

import pytest

from problems.spec.record import ProblemRecord
from runners.agent.devices.lanes import Lanes
from runners.agent.ground.native import default_cache_directory
from runners.agent.job.environment import NodeEnvironment
from runners.agent.judges import host
from runners.agent.judges.function import checkers, contestants
from runners.agent.judges.function.subject import INSIDE
from runners.agent.judges.host import MachineWork
from runners.agent.judges.registry import Judges
from runners.agent.judges.report import Finished
from runners.agent.sandbox import Command, Outcome, Running, Sandbox
from runners.wire.job import JobPurpose, Sides
from runners.wire.protocol import Capabilities, Stage, TimingPolicy
from tests.agent.functions.table import LIMITS, SCALE, SCALE_CPP, source
from tests.agent.functions.table import problem as function_problem
from tests.agent.machine import Files, job_of, shell_problem
from tests.requirements import requires
from tests.sandbox.boxes import open_sandbox

STORED = Path(__file__).parent / "data" / "golden_reports.json"
RANKED = {"timing_policy": TimingPolicy.RANKED}
VISIBLE = {"visible_tests": ["test/t.sh"], "visible_test_command": "sh solution.sh"}
TIMED: dict[str, Any] = {"benchmark_command": "sh solution.sh", "baseline": {"solution.sh": "true # takes 30 ms\n"}}
CHECKED: dict[str, Any] = {**TIMED, "benchmark_command": "sh test/t.sh"}
SECRET: dict[str, Any] = {
    "tests": {"test/secret.txt": "42\n"},
    "build_command": "cp test/secret.txt kept; cp solution.sh run",
    "test_command": "sh run | cmp - kept",
    "baseline": {"solution.sh": "echo 42"},
    "podium": {},
}
"""Its runs do without the test's file, which only the build needs."""
COMPILED: dict[str, Any] = {
    "context": {"answer.h": "int answer();\n"},
    "tests": {"test/main.cpp": '#include "answer.h"\nint main() { return answer() == 42 ? 0 : 1; }\n'},
    "build_command": "g++ -I . -o test.out test/main.cpp answer.cpp",
    "test_command": "./test.out",
    "baseline": {"answer.cpp": "int answer() { return 42; }\n"},
}
LEAVES = {"answer.cpp": "#include <cstdlib>\nint answer() { std::exit(0); }\n"}
TIMES = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+\+00:00")
OWN_LINES = re.compile(r'  File \\"/podium-judge/judge/\w+\.py\\", line \d+, in \w+\\n[^\\]*\\n')
"""Lines of the judge's own sources in a solution's traceback, in JSON."""
NO_NUMPY_RANDOM = SCALE.replace(
    "rng.standard_normal(case.n, dtype=np.float32) + np.float32(5)", "np.arange(1, case.n + 1, dtype=np.float32)"
)
"""Without a seed: the inputs of every call are the same."""
LARGE = NO_NUMPY_RANDOM.replace("n=5000", "n=1_000_000")
"""Its second case is long enough to be timed."""
SLOWER_CPP = SCALE_CPP + "// the reference\n"


@dataclass(frozen=True)
class Scenario:
    """A solution to a problem, how it is judged, and how often: the report of the last time counts."""

    problem: ProblemRecord
    files: Files
    how: Mapping[str, Any] = field(default_factory=dict)
    before: Mapping[str, Any] | None = None
    """How the same solution was judged before."""


def shell(script: str = "exit 0", how: Mapping[str, Any] | None = None, **changes: Any) -> Scenario:
    before = changes.pop("before", None)
    return Scenario(shell_problem(**changes), {"solution.sh": script}, how or {}, before)


def function(text: str, how: Mapping[str, Any] | None = None, **changes: Any) -> Scenario:
    definition = changes.pop("definition", NO_NUMPY_RANDOM)
    record = function_problem(definition, **{"time_limit_seconds": 5} | changes)
    one = source(text)
    return Scenario(record, {one.path: one.content}, {"limits": LIMITS, **(how or {})})


def in_cpp(body: str) -> str:
    return SCALE_CPP.replace("for (size_t i = 0; i < n; ++i) y[i] = 3 * x[i];", body)


def with_reference(text: str, **more: Any) -> dict[str, Any]:
    files = [{"path": source(text).path, "content": text}]
    return {
        "baseline_solution": {"type": "file", "task_id": "functions/1", "files": files},
        "definition": LARGE,
        **more,
    }


COMMANDS: dict[str, Scenario] = {
    "passes": shell("echo fine; echo more >&2"),
    "without a build": shell(build_command=None),
    "skipped": shell(how={"skip_reason": "needs a GPU, here is none"}),
    "invalid": Scenario(shell_problem(), {"test/t.sh": "exit 0"}),
    "lacks a source reference": shell("# other", source_references={"any": None, "all": ["needed"]}),
    "build fails": shell("# build fails", build_command="echo words; exit 1"),
    "failed build, kept": shell("# kept", build_command="echo words; exit 1", before={}),
    "failed build, rerun": shell(
        "# rerun", {"purpose": JobPurpose.RERUN}, build_command="echo words; exit 1", before={}
    ),
    "build too long": shell("# long", build_command="sleep 9", timeout_seconds=0.3),
    "build uses too much memory": shell("# memory exceeded", build_command="false"),
    "test fails": shell("echo wrong; exit 3"),
    "test killed": shell("kill -SEGV $$", test_command="exec sh solution.sh"),
    "test too long": shell("echo so far; sleep 30", timeout_seconds=0.3),
    "test uses too much memory": shell("exit 1 # memory exceeded", build_command=None),
    "test prints no counts": shell(metadata={"podium": {"counts": "{passed} of {total} fine"}}),
    "harness left": Scenario(shell_problem(**COMPILED), LEAVES),
    "changes context": Scenario(
        shell_problem(context={"check.sh": "exit 1"}, tests={"test/t.sh": "sh check.sh"}),
        {"check.sh": "exit 0", "solution.sh": ""},
    ),
    "trial": shell("echo seen", {"purpose": JobPurpose.TRIAL}, metadata={"podium": VISIBLE}),
    "trial without tests": shell("# tried", {"purpose": JobPurpose.TRIAL}),
    "build alone": shell("# built", {"stage": Stage.BUILD}),
    "run alone": shell("# run", {"stage": Stage.RUN, "build_key": "0" * 64}),
    "quick": shell("true # takes 12.5 ms", **CHECKED),
    "quick, without a baseline": shell("true # takes 12.5 ms, alone", {"sides": Sides.SOLUTION}, **CHECKED),
    "quick, unchecked and much faster": shell("true # takes 5 ms", **TIMED),
    "quick, on a busy host": shell("true # takes 12.5 ms, busy", **CHECKED),
    "quick, benchmark fails": shell('test "$1" = "" # fails', **TIMED | {"benchmark_command": "sh solution.sh more"}),
    "quick, printed time": shell("echo COMPUTE_EVAL_TIME_MS: 1.25", **TIMED | {"timing_mode": {"type": "custom"}}),
    "quick, reference fails": shell("true # takes 8 ms", **CHECKED | {"baseline": {"solution.sh": "exit 1"}}),
    "ranked": shell("true # takes 12.5 ms, ranked", RANKED, **CHECKED),
    "untimed": shell("true # takes 9 ms", {"sides": Sides.NONE}, **CHECKED),
    "withholds what runs do not need": shell("echo 42 # unneeded", {"withheld": None}, **SECRET),
    "withholds nothing that runs need": shell(
        "cat test/secret.txt", {"withheld": None}, **SECRET | {"test_command": "cat */secret.txt && sh run"}
    ),
    "verification, does without": shell("echo 42", {"withheld": None}, **SECRET),
    "verification, needs it": shell(
        "cat test/secret.txt",
        {"withheld": None},
        **SECRET | {"baseline": {"solution.sh": "cat test/secret.txt"}},
    ),
    "a run does not see it": shell("cat test/secret.txt # unseen", {"withheld": ("test/secret.txt",)}, **SECRET),
}
FUNCTIONS: dict[str, Scenario] = {
    "C++": function(SCALE_CPP, definition=LARGE),
    "Python": function("def solution(x, y, n):\n    y[:] = 3 * x\n", definition=LARGE),
    "skipped": function(SCALE_CPP, {"skip_reason": "needs a GPU, here is none"}),
    "invalid": function(SCALE_CPP, {"invalid_reason": "it is not"}),
    "build fails": function(f"#error no\n{SCALE_CPP}"),
    "build alone": function(f"// alone\n{SCALE_CPP}", {"stage": Stage.BUILD}),
    "wrong": function(in_cpp("for (size_t i = 0; i < n; ++i) y[i] = i == 4 ? 1 : 3 * x[i];")),
    "wrong where it is held out": function(
        in_cpp("for (size_t i = 0; i < n; ++i) y[i] = (n == 5000 ? 4 : 3) * x[i];"),
        definition=NO_NUMPY_RANDOM.replace("n=5000", "n=5000, held_out=True"),
    ),
    "late": function(in_cpp("for (;;) {}"), time_limit_seconds=0.5),
    "leaves": function(in_cpp("__builtin_trap();")),
    "raises": function("def solution(x, y, n):\n    raise ValueError('no')\n"),
    "trial": function("def solution(x, y, n):\n    y[:] = 3 * x  # trial\n", {"purpose": JobPurpose.TRIAL}),
    "trial shows a call": function(
        "def solution(x, y, n):\n    print('seen', n)\n    y[:] = 3 * x\n", {"purpose": JobPurpose.SAMPLE}
    ),
    "trial of own sizes": function(
        "def solution(x, y, n):\n    y[:] = 2 * x\n", {"purpose": JobPurpose.SAMPLE, "sizes": {"n": 3}}
    ),
    "trial of refused sizes": function(
        "def solution(x, y, n):\n    y[:] = 2 * x\n", {"purpose": JobPurpose.SAMPLE, "sizes": {"n": 0}}
    ),
    "verifies": function(f"// verifies\n{SCALE_CPP}", {"purpose": JobPurpose.VERIFY}),
    "compared": function(f"// faster\n{SCALE_CPP}", **with_reference(SLOWER_CPP)),
    "timed in one case": function(
        f"// one case\n{SCALE_CPP}", {"timed_cases": ("many",)}, **with_reference(SLOWER_CPP, task_id="functions/2")
    ),
    "ranked": function(f"// ranked\n{SCALE_CPP}", RANKED, **with_reference(SLOWER_CPP, task_id="functions/3")),
}  # fmt: skip
FIXED_CLOCK = """

def _fixed():
    import secrets, time
    ticks = iter(range(10**9))
    time.monotonic = lambda: next(ticks) / 1000
    secrets.randbits = lambda bits: 0x5EED % (1 << bits)
    measured = Clock.call
    def call(self, link, regions, **order):
        times = measured(self, link, regions, **order)
        each = tuple(range(1_000_000, 1_000_000 + len(times.each_ns)))
        fixed = {"clock_ns": 1_000_000, "complete_ns": 50, "go_ns": 700_000, "copy_ns": 100, "prepare_ns": 7}
        return times._replace(**fixed, each_ns=each)
    Clock.call = call

_fixed()
"""
"""Follows the code of inside/clock.py in the sandbox: every call takes a millisecond, and every look at the clock."""


class FixedRunning(Running):
    def __init__(self, inner: Running, facts: Mapping[str, Any], *, is_contestant: bool) -> None:
        self._inner, self._facts, self._is_contestant = inner, facts, is_contestant

    def stop(self) -> None:
        self._inner.stop()

    @property
    def has_ended(self) -> bool:
        return self._inner.has_ended

    def wait(self) -> Outcome:
        outcome = replace(self._inner.wait(), **self._facts)
        has_ended = self._is_contestant and outcome.exit_code == 0  # which races with the judge that kills it
        return replace(outcome, exit_code=None, signal=9) if has_ended else outcome

    def __exit__(self, *facts: object) -> None:
        self._inner.__exit__(*facts)


class FixedSandbox(Sandbox):
    """Real commands whose readings are those that a comment in the solution names."""

    def __init__(self, inner: Sandbox) -> None:
        self._inner = inner
        self.name, self.memory_limit_by, self.memory_limit_why = inner.name, "fixed", ""

    def start(self, command: Command, channel: socket | None = None, brake: socket | None = None) -> Running:
        running = self._inner.start(command, channel, brake)
        return FixedRunning(running, _readings(command.workspace), is_contestant=brake is not None)

    def why_no_gpus(self, uuids: tuple[str, ...]) -> str:
        return self._inner.why_no_gpus(uuids)

    def close(self) -> None:
        self._inner.close()


def _readings(workspace: Path) -> dict[str, Any]:
    solution = workspace / "solution.sh"
    text = solution.read_text() if solution.exists() else ""
    takes = re.search(r"# takes ([\d.]+) ms", text)
    wall_ms = float(takes[1]) if takes else 1.0
    facts = {"wall_ms": wall_ms, "cpu_ms": 0.75, "peak_memory_bytes": 1 << 20, "stalled_ms": 0.0, "timed_ms": 0.0}
    busy_ms = wall_ms / 2 if "busy" in text else 0.0
    facts |= {"lost_ms": busy_ms, "others_ms": busy_ms, "steal_ms": 0.0}
    return facts | ({"memory_exceeded": True} if "memory exceeded" in text else {})


@contextmanager
def fixed_judges(patch: pytest.MonkeyPatch) -> Iterator[Judges]:
    with tempfile.TemporaryDirectory(prefix="podium-golden-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        inside = folder / "inside"
        shutil.copytree(INSIDE, inside)
        clock = inside / "clock.py"
        clock.write_text(clock.read_text() + FIXED_CLOCK)
        mounts = tuple(replace(one, source=inside) if one.source == INSIDE else one for one in checkers.MOUNTS)
        for module in (checkers, contestants):
            patch.setattr(module, "MOUNTS", mounts)
        patch.setattr(os, "getloadavg", lambda: (0.5, 0.5, 0.5))
        patch.setattr(host.MachineWatch, "seen", lambda *_: MachineWork(1.0, 1.0, 0.0, 0.0))
        box = FixedSandbox(open_sandbox("bubblewrap", default_cache_directory()))
        opened = NodeEnvironment.open("node-1", folder, box, Lanes(1, 1), Capabilities())
        environment = replace(opened, tools="tools", architecture="x86_64")
        yield Judges(environment)
        environment.close()


def judged(judges: Judges, scenario: Scenario) -> Finished:
    for how in (scenario.before, scenario.how):
        if how is not None:
            finished = judges.judge(job_of(scenario.problem, scenario.files, **how))
    return finished


def shown(finished: Finished, *, masks_key: bool) -> dict[str, Any]:
    """The report and ComputeEval's texts as JSON, without values that are the default. Times of day are masked, and
    the keys of builds that hold the judge's own sources."""
    report = finished.report.model_dump(mode="json", exclude_defaults=True)
    if masks_key:
        report["provenance"] = {k: v for k, v in report["provenance"].items() if k != "artefact_key"}
        if "artefact" in report:
            report["artefact"] = sorted(report["artefact"])
    texts = {name: value for name, value in asdict(finished.texts).items() if value is not None}
    text = TIMES.sub("TIME", OWN_LINES.sub("", json.dumps({"report": report, "texts": texts}, default=str)))
    found: dict[str, Any] = json.loads(text)
    return found


EVERY = [("command", name) for name in COMMANDS] + [("function", name) for name in FUNCTIONS]


def report_of(judges: Judges, kind: str, name: str) -> dict[str, Any]:
    scenario = (COMMANDS if kind == "command" else FUNCTIONS)[name]
    return shown(judged(judges, scenario), masks_key=kind == "function")


@pytest.fixture(scope="module")
def judges() -> Iterator[Judges]:
    with pytest.MonkeyPatch.context() as patch, fixed_judges(patch) as opened:
        yield opened


@pytest.fixture(scope="module")
def stored() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(STORED.read_text())
    return found


@requires("bubblewrap")
@pytest.mark.parametrize(("kind", "name"), EVERY)
def test_a_report_is_the_stored_one(judges: Judges, stored: dict[str, Any], kind: str, name: str) -> None:
    assert report_of(judges, kind, name) == stored[f"{kind}: {name}"]


def write() -> None:
    with pytest.MonkeyPatch.context() as patch, fixed_judges(patch) as judges:
        rows = [f"{json.dumps(f'{kind}: {name}')}: {json.dumps(report_of(judges, kind, name))}" for kind, name in EVERY]
    STORED.write_text("{\n" + ",\n".join(rows) + "\n}\n")


if __name__ == "__main__":
    write()
