"""A node without a GPU builds for the nodes that have one."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from problems.spec.command.problem import CommandProblem
from runners.agent.grading import Grader
from runners.agent.ground.events import BuildPrinted, Event, Progress
from runners.agent.leases import LeasedAttempt
from runners.agent.link.outbox import Outbox
from runners.agent.link.problem_store import ProblemStore
from runners.wire.job import Work
from runners.wire.protocol import (
    ArtefactRef,
    Profiler,
    Report,
    ResourceLimits,
    Stage,
    TrackSpec,
    Verdict,
)
from tests.agent.machine import Machine, job_of, shell_problem
from tests.agent.wire_site import WireSite
from tests.requirements import requires

H200 = TrackSpec(slug="nvidia-h200-cuda13.0", device="gpu", toolkit="13.0", compute_capability="9.0")
KERNEL = "__global__ void kernel(float* x) { *x = 1; }\nvoid solve(float* x) { kernel<<<1, 1>>>(x); }\n"
HARNESS = """\
#include <cstdio>
#define TEXT(x) #x
#define SHOWN(x) TEXT(x)
int main() { std::puts("for " SHOWN(__CUDA_ARCH_LIST__)); return 0; }
"""
REGION = {"type": "region", "include": ["bench_region"], "exclude": None, "time_type": "kernel"}
TIMED = {"benchmark_command": "sh solution.sh", "timing_mode": REGION}


@pytest.fixture
def site() -> Iterator[WireSite]:
    made = WireSite()
    yield made
    made.close()


def work_off(site: WireSite, machine: Machine, work: Work, folder: Path) -> Report:
    """Let the machine do the work as an agent would, up to the report that the site gets."""
    client = site.client()
    lease = LeasedAttempt(work)
    finished = Grader(client, machine.judges, ProblemStore(folder / "problems")).grade(lease)
    Outbox(folder / "outbox").deliver(client, lease.letter(finished))
    return site.reports[work.attempt]


@requires("nvcc")
@requires("bubblewrap")
def test_what_a_builder_made_for_the_tracks_gpu_runs_on_another_node(
    site: WireSite, machine: Machine, fresh_machine: Machine, tmp_path: Path
) -> None:
    problem = shell_problem(
        build_command="nvcc -o test.out solution.cu test/main.cu",
        test_command="./test.out | grep -x 'for 900' && ! ls test",
        tests={"test/main.cu": HARNESS},
        timeout_seconds=300,
    )
    facts = {"track": H200, "limits": ResourceLimits(), "withheld": ("test/main.cu",)}
    job = site.add(problem, {"solution.cu": KERNEL}, stage=Stage.BUILD, profiler=Profiler.CUPTI, **facts)
    built = work_off(site, machine, job, tmp_path / "builder")
    assert built.verdict is Verdict.PASSED, built
    assert (built.provenance.arch, built.provenance.gpu) == ("sm_90", "")
    assert built.artefact is not None
    site.blobs.update(site.put)
    artefact = ArtefactRef(key=built.artefact.key, blob=built.artefact.blob, node="builder")
    job = site.add(problem, {"solution.cu": KERNEL}, stage=Stage.RUN, artefact=artefact, **facts)
    ran = work_off(site, fresh_machine, job, tmp_path / "runner")
    assert ran.verdict is Verdict.PASSED, ran
    assert [step.name for step in ran.steps] == ["test"]
    assert (ran.provenance.arch, ran.provenance.artefact_key) == ("sm_90", built.artefact.key)


@pytest.mark.parametrize("profiler", [Profiler.CUPTI, Profiler.NCU])
def test_a_builder_needs_no_profiler(machine: Machine, profiler: Profiler) -> None:
    problem = shell_problem(build_command="echo made > product", **TIMED)
    built = machine.judge(problem, {"solution.sh": "exit 0"}, stage=Stage.BUILD, profiler=profiler)
    assert built.report.verdict is Verdict.PASSED
    assert built.report.artefact is not None


def reference_problem() -> CommandProblem:
    return shell_problem(
        build_command="cat solution.sh; cp solution.sh product", baseline={"solution.sh": "echo the reference"}, **TIMED
    )


@requires("bubblewrap")
def test_the_reference_of_a_timed_problem_is_built_first_and_shown_to_nobody(fresh_machine: Machine) -> None:
    told: list[Event] = []
    assignment = job_of(reference_problem(), {"solution.sh": "echo mine"}, stage=Stage.BUILD)
    finished = fresh_machine.judges.judge(assignment, Progress(told.append))
    assert finished.texts.build == "echo mine\n"
    assert b"".join(one.chunk for one in told if isinstance(one, BuildPrinted)) == b"echo mine"
    builds = sorted((fresh_machine.work_folder.parent / "builds").glob("*/*"), key=lambda path: path.stat().st_mtime_ns)
    assert [b"the reference" in path.read_bytes() for path in builds] == [True, False]


@requires("bubblewrap")
def test_the_reference_of_a_problem_that_nobody_times_is_not_built(fresh_machine: Machine) -> None:
    problem = shell_problem(build_command="cp solution.sh product", baseline={"solution.sh": "echo the reference"})
    fresh_machine.judge(problem, {"solution.sh": "echo mine"}, stage=Stage.BUILD)
    assert len(list((fresh_machine.work_folder.parent / "builds").glob("*/*"))) == 1
