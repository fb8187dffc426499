"""Runs the test of a built solution. Other runs may use the device at the same time."""

import re
import stat
from collections.abc import Collection, Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from pathlib import Path

from problems.spec.command.counts import why_not_counted
from runners.agent.devices.lanes import Seat
from runners.agent.ground.events import Progress
from runners.agent.job.commands import run, told
from runners.agent.job.environment import NodeEnvironment
from runners.agent.judges.command.subject import CommandSubject
from runners.agent.judges.command.turns import attached, notes_of_a_run, run_at_gate
from runners.agent.profilers.cupti import ONE_CONNECTION, gate_attachment
from runners.agent.sandbox.policy import Outcome
from runners.wire.protocol import Witness

LARGE_BYTES = 16 << 20
"""The content of larger test files is not compared."""
_WANTS_MEMORY = re.compile(r"out of memory|MemoryAllocation|OutOfMemory|bad_alloc|ALLOC_FAILED", re.IGNORECASE)


def test(environment: NodeEnvironment, subject: CommandSubject, product: bytes, progress: Progress) -> Outcome:
    """Run the test command on a build's product. Raises Cancelled, SandboxFault, UnusableProblem.

    A test that failed on a shared GPU for lack of memory runs again alone. A reference's test first runs with one
    connection to the device, which starts faster. If it fails that way, it runs again like any other test. The outcome
    has a `complaint` if the problem asks for counts and they do not say that all cases passed.
    """
    if subject.author.is_trusted and _is_gated(environment, subject):
        outcome = _test(environment, subject, product, progress, _sharing(environment, subject), ONE_CONNECTION)
        if outcome.succeeded:
            return outcome
    outcome = _test(environment, subject, product, progress, _sharing(environment, subject))
    if not subject.place.device or outcome.succeeded or not _WANTS_MEMORY.search(outcome.stdout + outcome.stderr):
        return outcome
    return _test(environment, subject, product, progress, environment.lanes.benchmark(subject.place))


def _is_gated(environment: NodeEnvironment, subject: CommandSubject) -> bool:
    return environment.gate_library is not None and bool(subject.place.device)


def _sharing(environment: NodeEnvironment, subject: CommandSubject) -> AbstractContextManager[Seat]:
    """The seat of a test. On a GPU with a gate, the test may start while a benchmark holds the device."""
    lanes = environment.lanes
    return (lanes.gated_test if _is_gated(environment, subject) else lanes.test)(subject.place)


def _test(
    environment: NodeEnvironment,
    subject: CommandSubject,
    product: bytes,
    progress: Progress,
    lane: AbstractContextManager[Seat],
    more_environment: Mapping[str, str] | None = None,
) -> Outcome:
    seconds = subject.problem.effective_test_timeout_seconds
    telling = told(progress, "test", subject.problem.task_id, is_reference=subject.author.is_trusted)
    with telling, lane as seat, subject.laid_out(environment, product) as workspace:
        command = subject.run_command(subject.test_command, seconds, workspace, seat, progress)
        marks = _marks(workspace, subject.test_paths)
        if seat.porter is None or environment.gate_library is None:
            outcome = _counted(subject, run(environment, command))
            return _unless_changed(outcome, marks, _marks(workspace, subject.test_paths))
        with notes_of_a_run(environment) as notes:
            attachment = gate_attachment(command.shell, environment.gate_library, notes)
            command = attached(command, attachment, more_environment)
            outcome = _counted(subject, run_at_gate(environment, command, seat, subject, progress, notes).without_waits)
            return _unless_changed(outcome, marks, _marks(workspace, subject.test_paths))


def _counted(subject: CommandSubject, outcome: Outcome) -> Outcome:
    """The outcome, with a complaint if it lacks the counts that the problem asks for. A trial runs other tests."""
    counts = subject.problem.podium.counts
    if counts is None or subject.is_trial or not outcome.succeeded:
        return outcome
    if outcome.truncated:
        return replace(outcome, complaint="The test printed too much: its counts may have been cut off.")
    return replace(outcome, complaint=why_not_counted(counts, outcome.stdout))


Marks = Mapping[str, tuple[int, int, bytes]]
"""The inode of each test file, the time of its last write, and its content."""


def _marks(workspace: Path, paths: Collection[str]) -> Marks:
    found = {}
    for path in paths:
        with suppress(OSError):
            place = workspace / path
            facts = place.lstat()
            content = place.read_bytes() if stat.S_ISREG(facts.st_mode) and facts.st_size < LARGE_BYTES else b""
            found[path] = (facts.st_ino, facts.st_mtime_ns, content)
    return found


def _unless_changed(outcome: Outcome, before: Marks, after: Marks) -> Outcome:
    """The outcome. If a test file was changed while the test ran, nothing says that the harness judged."""
    changed = sorted(path for path in before if after.get(path) != before[path])
    if not changed:
        return outcome
    words = f"{changed[0]} was changed while the test ran"
    return replace(outcome, witness=Witness.CONTRADICTED, witness_detail=words)
