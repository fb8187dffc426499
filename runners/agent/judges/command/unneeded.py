"""Finds the test files that the runs of a problem do without, because its reference passes without them."""

from runners.agent.ground.events import Progress
from runners.agent.ground.locks import Once
from runners.agent.judges.command.references import References
from runners.agent.judges.command.subject import CommandSubject
from runners.agent.judges.command.timing import Series, Stopwatch
from runners.agent.profilers.base import Timer

REMEMBERED = 4096
"""Maximum number of problems of which it is known whether their benchmarks need test files."""


class UnneededFiles:
    """The test files that runs need not see, by problem."""

    def __init__(self, references: References, stopwatch: Stopwatch) -> None:
        self._references, self._stopwatch = references, stopwatch
        self._benchmark_needs: Once[object, bool] = Once(REMEMBERED)

    def without(self, subject: CommandSubject, progress: Progress) -> CommandSubject:
        """The subject without the test files, if the reference passes its test without all of them and its benchmark is
        not known to need any; else the same subject. Afterwards `are_needed` tells whether that was right.

        A solution whose files are the reference's is its own test of this. Raises as `References.prepare`.
        """
        tried = _worth_a_try(subject)
        bare = subject.withholding(tried)
        reference = bare.reference if tried else None
        if reference is None or self._benchmark_needs.known(reference.shared_key):
            return subject
        return bare if subject.is_reference or self._references.prepare(reference, progress).passed else subject

    def are_needed(
        self,
        subject: CommandSubject,
        without: CommandSubject,
        timer: Timer | None,
        baseline: Series | None,
        progress: Progress,
    ) -> bool:
        """Whether the reference fails its test without the withheld files, or only without them its benchmark.

        The answer about the benchmark is found once for each problem: from `baseline`, the reference's times without
        the files, if they succeeded; else by benchmarks of its own. Without a timer only the test counts. Raises as
        `Stopwatch.quick`.
        """
        bare = without.reference
        if bare is None or not self._references.prepare(bare, progress).passed:
            return True
        if timer is None:
            return False

        def needs() -> bool:
            if baseline is not None and not baseline.failed:
                return False
            return not self._stopwatch.runs(bare, timer, progress) and self._stopwatch.runs(subject, timer, progress)

        return self._benchmark_needs.get(bare.shared_key, needs, progress.cancelled)


def _worth_a_try(subject: CommandSubject) -> list[str]:
    """The test files, if it is worth a try to run without them: something was built, and no command names one."""
    problem, paths = subject.problem, subject.problem.may_withhold
    commands = f"{problem.test_command} {problem.benchmark_command or ''}"
    worth_a_try = problem.build_command and not any(path in commands for path in paths)
    return paths if worth_a_try else []
