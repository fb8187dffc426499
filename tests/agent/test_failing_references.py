"""A reference that fails is tried again, because the machine may have been to blame; a rerun uses no kept failure."""

from dataclasses import dataclass, replace

import pytest

from problems.spec.command.problem import CommandProblem
from runners.agent.ground.events import Progress
from runners.agent.judges.command.references import FAILURE_SECONDS, References
from runners.agent.judges.command.subject import CommandSubject
from runners.agent.sandbox.policy import Command, Outcome
from runners.wire.job import JobPurpose
from runners.wire.protocol import Verdict, Witness
from tests.agent.machine import Machine, shell_problem, subject_of

BUILT_AND_TESTED = shell_problem(baseline={"solution.sh": "true"}, test_command="sh solution.sh")
TESTED = shell_problem(baseline={"solution.sh": "true"}, build_command=None)


@dataclass
class Commands:
    """Stands in for a sandbox on a machine that is well at times: all commands end with `exit_code`."""

    exit_code: int = 1
    n_run: int = 0

    def run(self, _: Command) -> Outcome:
        self.n_run += 1
        return Outcome(
            exit_code=self.exit_code, signal=None, timed_out=False, memory_exceeded=False, cancelled=False, stdout="",
            stderr="", truncated=False, wall_ms=1.0, cpu_ms=1.0, peak_memory_bytes=0, witness=Witness.UNAVAILABLE,
        )  # fmt: skip


GRADE, RERUN = JobPurpose.GRADE, JobPurpose.RERUN


@dataclass
class Clock:
    now: float = 1000.0

    def __call__(self) -> float:
        return self.now


@dataclass
class Node:
    """The references of a machine whose commands and clock are driven."""

    machine: Machine

    def __post_init__(self) -> None:
        self.commands, self.clock = Commands(), Clock()
        environment = replace(self.machine.environment, sandbox=self.commands)  # type: ignore[arg-type]
        self.references = References(environment, self.clock)

    def passes(self, problem: CommandProblem, *, purpose: JobPurpose = JobPurpose.GRADE) -> bool:
        reference = subject_of(problem, {"solution.sh": "x"}, purpose=purpose).reference
        assert isinstance(reference, CommandSubject)
        return self.references.prepare(reference, Progress()).passed


@pytest.fixture
def node(fresh_machine: Machine) -> Node:
    return Node(fresh_machine)


problems = pytest.mark.parametrize("problem", [BUILT_AND_TESTED, TESTED], ids=["build", "test"])


@problems
def test_a_failed_reference_is_tried_again_after_a_while(node: Node, problem: CommandProblem) -> None:
    assert not node.passes(problem)
    node.commands.exit_code = 0
    node.clock.now += FAILURE_SECONDS - 1
    assert not node.passes(problem)
    assert node.commands.n_run == 1
    node.clock.now += 2
    assert node.passes(problem)


@problems
def test_a_rerun_tries_a_failed_reference_at_once(node: Node, problem: CommandProblem) -> None:
    assert not node.passes(problem)
    node.commands.exit_code = 0
    node.clock.now += 1
    assert node.passes(problem, purpose=JobPurpose.RERUN)
    assert node.passes(problem)


@problems
def test_a_reference_that_goes_on_failing_is_tried_once_each_time(node: Node, problem: CommandProblem) -> None:
    for n_tries in (1, 2):
        assert not node.passes(problem)
        assert node.commands.n_run == n_tries
        node.clock.now += FAILURE_SECONDS + 1


@problems
def test_a_passed_reference_is_kept(node: Node, problem: CommandProblem) -> None:
    node.commands.exit_code = 0
    assert node.passes(problem)
    n_run, node.commands.exit_code = node.commands.n_run, 1
    node.clock.now += 100 * FAILURE_SECONDS
    assert node.passes(problem)
    assert node.passes(problem, purpose=JobPurpose.RERUN)
    assert node.commands.n_run == n_run


def test_a_rerun_builds_again_what_failed(fresh_machine: Machine) -> None:
    problem = shell_problem(build_command="echo no; exit 1")
    for purpose, cached in ((GRADE, False), (GRADE, True), (RERUN, False)):
        report = fresh_machine.judge(problem, {"solution.sh": "x"}, purpose=purpose).report
        assert (report.verdict, report.provenance.build_cached) == (Verdict.BUILD_FAILED, cached)


def test_a_rerun_uses_a_kept_product(fresh_machine: Machine) -> None:
    problem = shell_problem(build_command="echo made > product", test_command="cat product")
    for purpose, cached in ((GRADE, False), (RERUN, True)):
        report = fresh_machine.judge(problem, {"solution.sh": "x"}, purpose=purpose).report
        assert (report.verdict, report.provenance.build_cached) == (Verdict.PASSED, cached)
