"""Which cases of a problem are timed: those that the site has fixed, else those that its first baseline here shows."""

from collections.abc import Collection, Sequence

from problems.spec.function.problem import FunctionProblem
from problems.spec.no_time import NO_TIME
from runners.agent.ground.errors import SandboxFault
from runners.agent.ground.locks import Once
from runners.agent.job.job import Job
from runners.wire.job import JobPurpose
from runners.wire.protocol import MAX_TIME_MS, Audience, Capabilities, CaseField, CaseReport, MeasurementReport

TimedCases = Collection[str] | None
"""Names of the cases that are timed; None if they are not fixed."""
REMEMBERED = 4096
"""Number of problems whose first cases are remembered."""


class FirstCases:
    """Remembers the cases that the first baseline of a problem showed on a model of GPU, or on this CPU."""

    def __init__(self, capabilities: Capabilities) -> None:
        self._models = {one.uuid: one.name for one in capabilities.gpus}
        self._first: Once[tuple[str, str], tuple[str, ...]] = Once(REMEMBERED)

    def fixed(self, job: Job, device: str) -> TimedCases:
        """The cases that are timed; None if a baseline shall show them, as for the reference that verifies it."""
        if job.rules.timed_cases is not None or job.rules.purpose is JobPurpose.VERIFY:
            return job.rules.timed_cases
        return self._first.known(self._key(job, device))

    def of(self, job: Job, device: str, baseline: Sequence[MeasurementReport]) -> TimedCases:
        """The cases of this baseline, or of an earlier one that has fixed them. One for verifying fixes nothing."""
        names = tuple(one.case for one in baseline)
        if job.rules.purpose is JobPurpose.VERIFY:
            return names
        return self._first.get(self._key(job, device), lambda: names)

    def _key(self, job: Job, device: str) -> tuple[str, str]:
        return job.problem_sha256, self._models.get(device, "")


def numbers_of(problem: FunctionProblem, cases: TimedCases) -> tuple[int, ...] | None:
    """The numbers of these cases; None if they are not fixed."""
    if cases is None:
        return None
    return tuple(number for number, case in enumerate(problem.manifest.cases) if case.name in cases)


def with_missing_times(
    reports: Sequence[CaseReport],
    timed: Sequence[MeasurementReport],
    baseline: Sequence[MeasurementReport],
    cases: TimedCases,
) -> list[CaseReport]:
    """The reports on all cases, with the reason for each of these cases that has no time of the solution's.

    Raises SandboxFault if the reference has no time: that is this machine's fault, and the sample is measured again.
    """
    named = {one.name for one in reports} & set(cases or ())
    if lacking := sorted(named - {one.case for one in baseline}):
        raise SandboxFault(f"the reference has no time in case {lacking[0]}, which is timed on this track")
    untimed = named - {one.case for one in timed}
    # The clock gives every right answer a time up to MAX_TIME_MS, unless the device did other work before all calls, or
    # processes never agree about the clock that they need.
    words = f"A call takes more than {MAX_TIME_MS:g} ms, or its processes did other work beside every call."
    why = CaseField(name=NO_TIME, value=words, audience=Audience.PUBLIC)
    return [one.model_copy(update={"fields": [*one.fields, why]}) if one.name in untimed else one for one in reports]
