"""Audits problems: answers that do no work are made from a reference that passed, and judged as samples.

The site's worker audits drafts as soon as their references have passed. An organiser has a published release audited.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from leaderboard.actions.curation.clarify import ask
from leaderboard.curation.audits import AuditFigures, audits_of, references_to_audit
from leaderboard.errors import NotAllowed, Refused
from leaderboard.intake.submission_rules import check_tracks
from leaderboard.models import (
    AuditMutant,
    AuditReason,
    Decision,
    Entrant,
    Evaluation,
    EvaluationState,
    ProblemAudit,
    ReleaseTrack,
    Result,
    Submission,
    SubmissionState,
    Track,
)
from leaderboard.models.audit import record
from leaderboard.models.curation.clarification import ClarificationKind
from leaderboard.models.curation.problem_audit import REASON_CHARACTERS
from leaderboard.models.entrants.entrant import AUDIT, REFERENCE, EntrantKind
from leaderboard.results.logs import log_text
from leaderboard.rows.reuse import Reuse, holding
from leaderboard.rows.store_once import store_once
from leaderboard.rows.submissions import SubmissionMetadata, site_identity_of
from problems.formats.mutants.made import mutants_of, why_none
from problems.formats.mutants.mutant import Mutant
from problems.formats.submission import IncomingSample, IncomingSubmission
from problems.models import Problem, Release, ReleaseState
from problems.spec.record import SolutionRules
from problems.spec.solution import FileSolution

PRIORITY = 4
DEFAULT_MUTANTS = 12
MOST_PRINTED_BYTES = 64 * 1024
MOST_SETTLED = 20
"""Releases whose audits one turn of the worker settles."""
_TEST_STEP = "test"


@dataclass(frozen=True)
class AuditPlan:
    """A problem's mutants with their samples, or why there are none."""

    problem: Problem
    mutants: Sequence[Mutant] = ()
    samples: Sequence[IncomingSample] = ()
    why_not: str = ""


def audit(user: Any, release: Release, track: Track) -> Submission | None:
    """Queue the mutants of the problems whose references passed on the track and that are not audited there.

    Returns None if no mutant can be made. `user` None is the site's worker. Raises NotAllowed, or Refused if no problem
    can be audited.
    """
    if user is not None and not getattr(user, "is_staff", False):
        raise NotAllowed("organisers_only", "Only an organiser has a release audited.")
    check_tracks(release, [track])
    rows = references_to_audit(release, track).select_related("problem__release", "current_result").order_by("problem")
    made = [_planned(one) for one in rows]
    if not made:
        words = "No reference passed there whose problem is not audited. Verify the release on the track first."
        raise Refused("nothing_to_audit", f"{release.slug} has nothing to audit on {track.slug}. {words}")
    return _stored(user, release, track, made)


def _planned(reference: Evaluation) -> AuditPlan:
    problem = reference.problem
    spec = problem.spec
    if why := why_none(spec):
        return AuditPlan(problem, why_not=why)
    assert reference.current_result is not None, "it passed"
    most = settings.AUDIT_MUTANTS or DEFAULT_MUTANTS
    mutants = mutants_of(spec, most, printed=_printed(reference.current_result))
    if not mutants:
        return AuditPlan(problem, why_not="no mutant could be made of its reference")
    rules = spec.rules()
    return AuditPlan(problem, mutants, [_sample(spec.task_id, rules, n, one) for n, one in enumerate(mutants)])


def _sample(task_id: str, rules: SolutionRules, index: int, mutant: Mutant) -> IncomingSample:
    """Checked as a contestant's files are."""
    files = list(mutant.files)
    made = IncomingSample.unchecked(task_id, index, FileSolution(task_id=task_id, files=files))
    return replace(made, invalid_reason=rules.why_bad(files))


def _printed(result: Result) -> str:
    """The output of the reference's test."""
    logs = [step.get("log") or {} for step in result.steps if step.get("name") == _TEST_STEP]
    return log_text(logs[-1], MOST_PRINTED_BYTES) if logs else ""


@transaction.atomic
def _stored(user: Any, release: Release, track: Track, made: Sequence[AuditPlan]) -> Submission | None:
    submission = None
    samples = tuple(sample for one in made for sample in one.samples)
    if samples:
        incoming = IncomingSubmission(name=AUDIT, full=False, samples=samples)
        entrant, _ = Entrant.objects.get_or_create(slug=AUDIT, kind=EntrantKind.SYSTEM, defaults={"name": AUDIT})
        metadata = SubmissionMetadata(entrant, release, [track], asks_to_count=False, through="site", priority=PRIORITY)
        receipt = store_once(user, metadata, incoming, _identity(metadata, incoming, made), _reuse(release))
        if not receipt.created:  # an audit that was asked for at the same time
            return receipt.submission
        submission = receipt.submission
    audits = [
        ProblemAudit(
            problem=one.problem, track=track, submission=submission if one.mutants else None, why_not=one.why_not[:200]
        )
        for one in made
    ]
    ProblemAudit.objects.bulk_create(audits)
    if submission is not None:
        _name_samples(submission, audits, made)
    record(user, "audit", release, track=track.slug, problems=len(made), mutants=len(samples))
    return submission


def _identity(metadata: SubmissionMetadata, incoming: IncomingSubmission, made: Sequence[AuditPlan]) -> str:
    """The same mutants are another audit once a draft's problem has changed."""
    since = max((one.problem.graded_since.isoformat() for one in made if one.problem.graded_since), default="")
    return hashlib.sha256(f"{site_identity_of(metadata, incoming)}|{since}".encode()).hexdigest()


def _reuse(release: Release) -> Reuse | None:
    """Results of the last revision's audit, of problems that are graded the same."""
    if release.previous is None:
        return None
    sources = Evaluation.objects.live().filter(submission__entrant__slug=AUDIT)
    return Reuse(sources, holding(release, release.previous))


def _name_samples(submission: Submission, audits: Sequence[ProblemAudit], made: Sequence[AuditPlan]) -> None:
    audit_of = {one.problem_id: one for one in audits}
    mutants = {one.problem.pk: one.mutants for one in made}
    rows = []
    for sample in submission.samples.all():
        one = mutants[sample.problem_id][sample.index]
        rows.append(AuditMutant(audit=audit_of[sample.problem_id], sample=sample, kind=one.kind, name=one.name[:300]))
    AuditMutant.objects.bulk_create(rows, batch_size=1000)


def audit_due() -> int:
    """Audit drafts whose references have ended. Returns the number of audits begun. `AUDIT_MUTANTS` 0 turns it off."""
    if not settings.AUDIT_MUTANTS:
        return 0
    ended = ReleaseTrack.objects.filter(
        release__state=ReleaseState.DRAFT, release__submissions__entrant__slug=REFERENCE,
        release__submissions__state=SubmissionState.DONE,
    )  # fmt: skip
    places = ended.select_related("release", "track").order_by("pk").distinct()
    return sum(_audit_place(one) for one in places)


def _audit_place(place: ReleaseTrack) -> bool:
    if _references(place).filter(state__in=[EvaluationState.QUEUED, EvaluationState.LEASED]).exists():
        return False
    if not references_to_audit(place.release, place.track).exists():
        return False
    audit(None, place.release, place.track)
    return True


def _references(place: ReleaseTrack) -> QuerySet[Evaluation]:
    rows = Evaluation.objects.live().filter(submission__release=place.release, track=place.track)
    return rows.filter(submission__entrant__slug=REFERENCE)


@transaction.atomic
def give_reason(user: Any, problem: Problem, public_reason: str) -> AuditReason:
    """Say publicly why a problem ranks although an answer that does no work passes it. `user` is None on the server's
    command line.

    Raises NotAllowed, or Refused if there is no such answer or no reason.
    """
    if user is not None and not getattr(user, "is_staff", False):
        raise NotAllowed("organisers_only", "Only an organiser gives a reason about an audit.")
    words = public_reason.replace("\0", "").strip()
    if not words or len(words) > REASON_CHARACTERS:
        raise Refused("reason_needed", f"Give the reason in 1 to {REASON_CHARACTERS} characters.")
    if not _idle(problem):
        raise Refused("nothing_passes", f"No answer that does no work passes {problem.task_id}: it needs no reason.")
    made = AuditReason.objects.create(problem=problem, public_reason=words, given_by=user)
    record(user, "give reason about audit", problem, words, release=problem.release.slug)
    return made


def needs_reason(problem: Problem) -> bool:
    """Whether an answer that does no work passes the problem, and no organiser has said why it ranks all the same."""
    return any(one.blocks for one in _idle(problem))


def _idle(problem: Problem) -> list[AuditFigures]:
    return [one for one in audits_of(problem.release) if one.problem.pk == problem.pk and one.idle]


def settle_audits() -> int:
    """Report a fault of each published problem whose audit has ended and that an answer without work passes.

    The report waits for an organiser, who makes an erratum of it or answers it. Only audits that an organiser asked for
    are settled. Returns their number.
    """
    rows = _unsettled().values_list("problem__release", flat=True).order_by("problem__release").distinct()
    return sum(_settle(release) for release in Release.objects.filter(pk__in=list(rows[:MOST_SETTLED])))


def _unsettled() -> QuerySet[ProblemAudit]:
    return ProblemAudit.objects.filter(
        settled_at=None, submission__submitted_by__isnull=False, problem__release__state=ReleaseState.PUBLISHED
    )


def _settle(release: Release) -> int:
    void = set(Decision.objects.errata().filter(problem__release=release).values_list("problem", flat=True))
    figures = {one.pk: one for one in audits_of(release) if one.pk is not None}
    rows = _unsettled().filter(problem__release=release).select_related("problem__release", "track", "submission")
    ended = [(one, figures[one.pk]) for one in rows if one.pk in figures and not figures[one.pk].n_pending]
    return sum(_settled(one, found, is_void=one.problem_id in void) for one, found in ended)


@transaction.atomic
def _settled(one: ProblemAudit, found: AuditFigures, *, is_void: bool) -> bool:
    if not ProblemAudit.objects.filter(pk=one.pk, settled_at=None).update(settled_at=timezone.now()):
        return False
    if found.blocks and not is_void:
        assert one.submission is not None, "an answer that passes is a sample of it"
        made = ask(one.submission.submitted_by, one.problem, ClarificationKind.FAULT, _proposal(one, found))
        ProblemAudit.objects.filter(pk=one.pk).update(proposal=made)
    return True


def _proposal(one: ProblemAudit, found: AuditFigures) -> str:
    named = ", ".join(sample.title for sample in found.idle)
    words = f"The audit on {one.track.slug} proposes an erratum: answers that do no work pass this problem: {named}"
    asked = "Make an erratum of this report, or answer why the problem stays."
    return f"{words[: REASON_CHARACTERS - 100]}. {asked}"
