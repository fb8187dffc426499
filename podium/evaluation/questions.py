"""Settles questions without a sandbox: their rule reads the reply, and no code of anybody's runs."""

from datetime import UTC, datetime

from podium.evaluation.inputs import SampleToGrade
from podium.evaluation.rows import Graded, graded
from problems.spec.kinds import SITE_KINDS
from problems.spec.record import ANSWER_CASE, READ_AS, READ_AS_CHARACTERS, ReplyUnread, Settled
from problems.spec.solution import FileSolution
from runners.agent.judges.report import Finished
from runners.wire.protocol import JUDGE_VERSIONS, Audience, CaseField, CaseReport, Provenance, Report, Verdict


def is_question(sample: SampleToGrade) -> bool:
    return sample.problem.kind in SITE_KINDS


def settled(sample: SampleToGrade) -> Graded:
    """The row of a sample of a question."""
    now = datetime.now(UTC).isoformat()
    version = JUDGE_VERSIONS[sample.problem.kind]
    provenance = Provenance(judge_version=version, started_at=now, finished_at=now)
    return graded(sample, Finished(_report(sample, provenance)))


def _report(sample: SampleToGrade, provenance: Provenance) -> Report:
    if reason := sample.incoming.invalid_reason:
        return Report(verdict=Verdict.INVALID, reason=reason, provenance=provenance)
    solution = sample.solution
    try:
        found = sample.problem.settled(solution.files) if isinstance(solution, FileSolution) else None
    except ReplyUnread as slow:
        reason = f"The reply could not be read: {slow}."
        return Report(verdict=Verdict.PLATFORM_ERROR, reason=reason, provenance=provenance)
    assert found is not None, "a question settles every solution that its rules allow"
    verdict = Verdict.PASSED if found.passed else Verdict.WRONG_ANSWER
    return Report(verdict=verdict, reason=found.reason, cases=_cases(found, verdict), provenance=provenance)


def _cases(found: Settled, verdict: Verdict) -> list[CaseReport]:
    fields = [CaseField(name=READ_AS, value=found.read_as[:READ_AS_CHARACTERS], audience=Audience.TEAM)]
    return [CaseReport(name=ANSWER_CASE, verdict=verdict, fields=fields)] if found.read_as else []
