"""The judge has the writes of a `ranked` sample counted, once for the reference, and only where the time could rank.

Real commands in the real sandbox; stand-ins for ncu and for the profiler, since there is no GPU. The stand-in for ncu
takes the table that a solution's own file holds.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from problems.spec.command.problem import CommandProblem
from runners.agent.ground.events import Progress
from runners.agent.judges.command import counting, judge
from runners.agent.judges.command.counting import Counting
from runners.agent.judges.command.references import References
from runners.agent.judges.command.runs import BenchmarkRun, benchmark
from runners.agent.judges.command.subject import CommandSubject
from runners.agent.profilers.base import Attachment, Reading, Timer
from runners.agent.sandbox.policy import Outcome
from runners.wire.job import JobPurpose
from runners.wire.protocol import Clock, GpuCapability, MeasurementReport, Report, Role, TimingPolicy, Verdict
from tests.agent.machine import Machine, shell_problem, subject_of
from tests.agent.ncu_stand_in import REGION, STORES, WRITE, counts, installed_ncu
from tests.agent.traffic_cases import FACTS, MB, RANGE

MAIN = """\
#include <cstdio>
void work();
int main(int argc, char**) {
    work();
    std::puts(argc > 1 ? TIME : "ok");
    return 0;
}
"""
WORK = '#define TIME "{time_ms}"\nvoid work() {{ {body} }}\n'
OUTPUTS = 1 * MB
NAIVE_SECTORS, ONCE_SECTORS = 10 * OUTPUTS // 32, OUTPUTS // 32
AFTER = '[ -e counted.csv ] && cp counted.csv "$log"\n'


class Printed:
    """Stands for the profiler: the benchmark prints its time, and what is seen beside it is the same for all."""

    clock, waits_at_gate, patience, name = Clock.IN_PROCESS, False, 1.0, "printed"
    for_graphs: Timer | None = None

    def attach(self, shell: str, _notes: Path) -> Attachment:
        return Attachment(shell)

    def read(self, _problem: CommandProblem, _notes: Path, outcome: Outcome) -> Reading:
        time_ms = float(outcome.stdout)
        around = {"uploaded_before_bytes": OUTPUTS, "downloaded_after_bytes": OUTPUTS}
        one = replace(RANGE, kernel_ms=time_ms, busy_ms=time_ms, **around)  # type: ignore[arg-type]
        facts = replace(FACTS, kernel_ms=time_ms, busy_ms=time_ms, ranges={"bench_region": one})
        return Reading(time_ms, facts=facts)

    def own_failure(self, _notes: Path, _outcome: Outcome) -> str:
        return ""


@pytest.fixture
def ncu(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of the stand-in for ncu."""
    with installed_ncu(monkeypatch) as folder:
        (folder / "times.after").write_text(AFTER)
        monkeypatch.setattr(judge, "timer_for", lambda *_: Printed())
        yield folder


@pytest.fixture
def counted(ncu: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The roles whose runs were counted, in order."""
    roles: list[str] = []

    def count(environment: Any, subject: CommandSubject, *more: Any) -> BenchmarkRun:
        roles.append("reference" if subject.author.is_trusted else "sample")
        return benchmark(environment, subject, *more)

    monkeypatch.setattr(counting, "benchmark", count)
    return roles


def files(time_ms: float, sectors: int | None, body: str = "") -> dict[str, str]:
    counted = {} if sectors is None else {"counted.csv": counts({**STORES, WRITE: str(sectors)})}
    return {"solution.cpp": WORK.format(time_ms=time_ms, body=body), **counted}


REFERENCE = files(1.0, NAIVE_SECTORS)


def problem(name: str, **changes: Any) -> CommandProblem:
    """`name` tells problems apart, whose references one machine shares."""
    fields: dict[str, Any] = {
        "tests": {"test/main.cpp": f"// {name}\n" + '#include "../solution.cpp"\n' + MAIN},
        "build_command": "g++ -o test.out test/main.cpp",
        "test_command": "./test.out",
        "benchmark_command": "./test.out --perf",
        "timing_mode": REGION,
        "baseline": REFERENCE,
        "timeout_seconds": 20,
    }
    return shell_problem(**fields | changes)


def judged(machine: Machine, one: CommandProblem, solution: dict[str, str], **changes: Any) -> Report:
    changes = {"timing_policy": TimingPolicy.RANKED} | changes
    return machine.judge(one, solution, **changes).report


def codes(report: Report) -> list[str]:
    assert report.verdict == Verdict.PASSED
    return [flag.code for flag in report.flags]


def measurement(report: Report, role: Role) -> MeasurementReport:
    (one,) = [one for one in report.measurements if one.role is role]
    return one


def test_who_writes_the_outputs_once_is_fine_beside_a_naive_reference(machine: Machine, ncu: Path) -> None:
    report = judged(machine, problem("library"), files(0.5, ONCE_SECTORS))
    assert codes(report) == []
    own, base = (measurement(report, role).device for role in (Role.CANDIDATE, Role.BASELINE))
    assert (own["writes_checked"], own["l2_written_bytes"], own["output_bytes"]) == ("yes", OUTPUTS, OUTPUTS)
    assert base["l2_written_bytes"] == 10 * OUTPUTS


def test_who_writes_nothing_is_flagged_on_its_time(machine: Machine, ncu: Path) -> None:
    report = judged(machine, problem("empty"), files(0.5, 0))
    assert codes(report) == ["outputs_not_written"]
    assert report.flags[0].scope == "time"


def test_the_references_own_result_tells_what_it_moves(machine: Machine, counted: list[str]) -> None:
    """The case of verifying: the reference is counted once, as the sample that it is."""
    report = judged(machine, problem("verified"), REFERENCE)
    assert (codes(report), counted) == ([], ["reference"])
    facts = measurement(report, Role.CANDIDATE).device
    assert facts["l2_written_bytes"] == 10 * OUTPUTS
    assert (facts["uploaded_bytes"], facts["downloaded_bytes"]) == (0, OUTPUTS)  # the table holds no reads


def test_the_reference_is_counted_once_and_each_sample_once(machine: Machine, counted: list[str]) -> None:
    for time_ms in (0.5, 0.6):
        judged(machine, problem("twice"), files(time_ms, ONCE_SECTORS))
    assert counted == ["reference", "sample", "sample"]


def test_a_solution_that_fails_when_it_is_counted_is_flagged(machine: Machine, ncu: Path) -> None:
    hides = files(0.5, ONCE_SECTORS, 'if (getenv("NV_COMPUTE_PROFILER_LOCAL_CONNECTION_OVERRIDE")) exit(3);')
    hides["solution.cpp"] = "#include <cstdlib>\n" + hides["solution.cpp"]
    report = judged(machine, problem("hides"), hides)
    assert codes(report) == ["fails_counted"]
    assert "under ncu it ended with exit status 3" in report.flags[0].detail


def test_a_count_that_takes_too_long_is_flagged_in_words(machine: Machine, ncu: Path) -> None:
    """The solution ends with the status that `timeout` gives at its limit."""
    hangs = files(0.5, ONCE_SECTORS, 'if (getenv("NV_COMPUTE_PROFILER_LOCAL_CONNECTION_OVERRIDE")) exit(124);')
    hangs["solution.cpp"] = "#include <cstdlib>\n" + hangs["solution.cpp"]
    report = judged(machine, problem("hangs"), hangs)
    assert codes(report) == ["fails_counted"]
    assert "did not end within 300 s" in report.flags[0].detail


def test_no_words_of_the_program_are_told(machine: Machine, ncu: Path) -> None:
    """A solution can write into ncu's log, and its readers may not see held-out files."""
    tells = files(0.5, 0)
    tells["counted.csv"] = "==ERROR== held-out words\n"
    report = judged(machine, problem("tells"), tells)
    assert codes(report) == ["fails_counted"]
    assert report.flags[0].detail.endswith("but not the solution's: ncu's counts cannot be used.")
    assert "held-out" not in report.model_dump_json()


def test_without_permission_nothing_is_flagged_and_the_fact_says_so(machine: Machine, ncu: Path) -> None:
    (ncu / "times.refused").write_text("==ERROR== ERR_NVGPUCTRPERM\n")
    report = judged(machine, problem("denied"), files(0.5, 0))
    assert codes(report) == []
    checked = str(measurement(report, Role.CANDIDATE).device["writes_checked"])
    assert checked.startswith("no: of the reference: ncu has no permission")


def test_counters_for_root_alone_are_not_tried(machine: Machine, counted: list[str]) -> None:
    gpu = GpuCapability(uuid="", name="GPU", compute_capability="9.0", profiling_admin_only=True)
    known = machine.environment.capabilities.model_copy(update={"gpus": [gpu]})
    environment = replace(machine.environment, capabilities=known)
    subject = subject_of(problem("admin"), REFERENCE)
    found = Counting(environment, References(environment)).of_reference(subject, Progress())
    assert (found.traffic, counted) == (None, [])
    assert found.why_not == f"of the reference: {counting.ADMIN_ONLY}"


def test_a_failed_count_of_the_reference_is_tried_again_for_a_rerun(machine: Machine, ncu: Path) -> None:
    one, references = problem("rerun"), References(machine.environment)
    counts = Counting(machine.environment, references)
    (ncu / "times.refused").write_text("==ERROR== Failed\n")
    assert counts.of_reference(subject_of(one, REFERENCE), Progress()).traffic is None
    (ncu / "times.refused").unlink()
    assert counts.of_reference(subject_of(one, REFERENCE), Progress()).traffic is None
    assert counts.of_reference(subject_of(one, REFERENCE, purpose=JobPurpose.RERUN), Progress()).traffic is not None


def test_a_quick_time_is_not_counted(machine: Machine, counted: list[str]) -> None:
    report = judged(machine, problem("quick"), files(0.5, 0), timing_policy=TimingPolicy.QUICK)
    assert (codes(report), counted) == ([], [])
    assert "writes_checked" not in measurement(report, Role.CANDIDATE).device


def test_a_time_that_cannot_rank_is_not_counted(machine: Machine, counted: list[str]) -> None:
    leaves = files(0.5, 0, 'if (getenv("PERF")) { puts("0.5"); exit(0); }')
    leaves["solution.cpp"] = "#include <cstdio>\n#include <cstdlib>\n" + leaves["solution.cpp"]
    report = judged(machine, problem("early", benchmark_command="PERF=1 ./test.out --perf"), leaves)
    assert "left_early" in codes(report)
    assert counted == []


def test_a_problem_that_shows_no_outputs_costs_a_sample_no_run(machine: Machine, counted: list[str]) -> None:
    one = problem("idle reference", baseline=files(1.0, 0))
    report = judged(machine, one, files(0.5, 0))
    assert (codes(report), counted) == ([], ["reference"])
    assert "declares no `output_bytes`" in str(measurement(report, Role.CANDIDATE).device["writes_checked"])


def test_declared_outputs_bound_what_copies_do_not_show(machine: Machine, counted: list[str]) -> None:
    one = problem("declared", metadata={"podium": {"output_bytes": 5 * OUTPUTS}})
    report = judged(machine, one, files(0.5, ONCE_SECTORS))
    assert (codes(report), counted) == (["outputs_not_written"], ["reference", "sample"])
    assert "the problem declares 5 MB of outputs" in report.flags[0].detail
