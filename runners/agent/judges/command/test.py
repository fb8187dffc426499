"""Runs the test of a built solution. Other runs may use the device at the same time."""

import re
from collections.abc import Mapping
from contextlib import AbstractContextManager

from runners.agent.devices.lanes import Seat
from runners.agent.ground.events import Progress
from runners.agent.job.environment import NodeEnvironment
from runners.agent.judges.command.commands import laid_out, run, run_command, told
from runners.agent.judges.command.subject import Subject
from runners.agent.judges.command.turns import attached, notes_of_a_run, run_at_gate
from runners.agent.profilers.cupti import ONE_CONNECTION, gate_attachment
from runners.agent.sandbox.policy import Outcome

_WANTS_MEMORY = re.compile(r"out of memory|MemoryAllocation|OutOfMemory|bad_alloc|ALLOC_FAILED", re.IGNORECASE)


def test(environment: NodeEnvironment, subject: Subject, product: bytes, progress: Progress) -> Outcome:
    """Run the test command on a build's product. Raises Cancelled, SandboxFault, UnusableProblem.

    A test that failed on a shared GPU for lack of memory runs again alone. A reference's test first runs with one
    connection to the device, which starts faster. If it fails that way, it runs again like any other test.
    """
    if subject.trusted and _is_gated(environment, subject):
        outcome = _test(environment, subject, product, progress, _sharing(environment, subject), ONE_CONNECTION)
        if outcome.succeeded:
            return outcome
    outcome = _test(environment, subject, product, progress, _sharing(environment, subject))
    if not subject.place.device or outcome.succeeded or not _WANTS_MEMORY.search(outcome.stdout + outcome.stderr):
        return outcome
    return _test(environment, subject, product, progress, environment.lanes.benchmark(subject.place))


def _is_gated(environment: NodeEnvironment, subject: Subject) -> bool:
    return environment.gate_library is not None and bool(subject.place.device)


def _sharing(environment: NodeEnvironment, subject: Subject) -> AbstractContextManager[Seat]:
    """The seat of a test. On a GPU with a gate, the test may start while a benchmark holds the device."""
    lanes = environment.lanes
    return (lanes.gated_test if _is_gated(environment, subject) else lanes.test)(subject.place)


def _test(
    environment: NodeEnvironment,
    subject: Subject,
    product: bytes,
    progress: Progress,
    lane: AbstractContextManager[Seat],
    more_environment: Mapping[str, str] | None = None,
) -> Outcome:
    seconds = subject.problem.effective_test_timeout_seconds
    with told(progress, "test", subject), lane as seat, laid_out(environment, subject, product) as workspace:
        command = run_command(subject, subject.test_command, seconds, workspace, seat, progress)
        if seat.porter is None or environment.gate_library is None:
            return run(environment, command)
        with notes_of_a_run(environment) as notes:
            attachment = gate_attachment(command.shell, environment.gate_library, notes)
            command = attached(command, attachment, more_environment)
            return run_at_gate(environment, command, seat, subject, progress, notes).without_waits
