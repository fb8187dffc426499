"""The audits of a release: of each problem, which answers that do no work its check rejected.

They are judged as samples of a hidden system entrant. An audit whose problem has changed since is left out.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from django.conf import settings
from django.db.models import F, Q, QuerySet

from leaderboard.models import AuditReason, Evaluation, EvaluationState, ProblemAudit, ResultCase, Track
from leaderboard.models.entrants.entrant import REFERENCE
from problems.formats.mutants.mutant import LESS_WORK
from problems.models import Problem, Release
from problems.spec.kinds import NODE_KINDS
from problems.spec.mutants import ADMITS
from runners.wire.mutant_outcomes import MutantOutcome, outcome_of
from runners.wire.protocol import Purpose, Verdict

AuditState = Literal["passed", "survivors", "not_audited", "running"]
MOST_NAMED = 3
_NO_RUN = "no mutant was built and ran"
_NOT_BEGUN = "its audit has not begun; the site worker begins it, unless its PODIUM_AUDIT_MUTANTS is 0"


@dataclass(frozen=True)
class AuditedSample:
    """A mutant as it was judged; `outcome` None: not yet."""

    kind: str
    name: str
    evaluation: int
    outcome: MutantOutcome | None

    @property
    def title(self) -> str:
        return f"{self.kind} {self.name}".strip()

    @property
    def does_no_work(self) -> bool:
        return self.kind not in LESS_WORK


@dataclass(frozen=True)
class AuditFigures:
    """The audit of a problem on a track; both `track` and `made_at` are None without one."""

    problem: Problem
    track: Track | None
    made_at: datetime | None
    samples: Sequence[AuditedSample] = ()
    reason: AuditReason | None = None
    less_precise: Sequence[str] = ()
    """Lower precisions whose results a case accepts. A note, and no fault."""
    why_none: str = ""
    proposal: int | None = None
    """The report of a fault that proposes an erratum."""
    pk: int | None = None

    @property
    def survivors(self) -> list[AuditedSample]:
        return [one for one in self.samples if one.outcome == "survived"]

    @property
    def n_pending(self) -> int:
        return sum(one.outcome is None for one in self.samples)

    @property
    def n_built(self) -> int:
        """Mutants that were built and ran."""
        return sum(one.outcome in ("killed", "survived") for one in self.samples)

    @property
    def n_killed(self) -> int:
        return self.n_built - len(self.survivors)

    @property
    def kill_rate(self) -> float | None:
        return self.n_killed / self.n_built if self.n_built else None

    @property
    def state(self) -> AuditState:
        if self.n_pending:
            return "running"
        if not self.n_built:
            return "not_audited"
        return "survivors" if self.survivors else "passed"

    @property
    def why_not(self) -> str:
        """The reason for which it is not audited."""
        return self.why_none or _NO_RUN

    @property
    def idle(self) -> list[AuditedSample]:
        """The survivors that do no work at all."""
        return [one for one in self.survivors if one.does_no_work]

    @property
    def blocks(self) -> bool:
        """Whether the problem cannot rank: an answer that does no work passes, and no organiser has given a reason."""
        return bool(self.idle) and self.reason is None

    @property
    def kinds(self) -> list[str]:
        """The kinds of the survivors, which everybody may read."""
        return sorted({one.kind for one in self.survivors})


def of_present(rows: QuerySet[ProblemAudit]) -> QuerySet[ProblemAudit]:
    """Audits of problems that no draft has changed since."""
    kept = Q(problem__graded_since=None) | Q(made_at__gte=F("problem__graded_since"))
    return rows.filter(kept, problem__is_left_out=False)


def audits_of(release: Release) -> list[AuditFigures]:
    """Those of the problems that a node judges, in their order, on each track; a fixed number of queries."""
    problems = release.problems.filter(kind__in=NODE_KINDS).defer("record").order_by("position")
    rows = of_present(ProblemAudit.objects.filter(problem__release=release)).select_related("track").order_by("pk")
    latest = {(one.problem_id, one.track_id): one for one in rows}
    samples, reasons, admitted = _samples(release), _reasons(release), _less_precise(release)
    of_problem: dict[int, list[ProblemAudit]] = defaultdict(list)
    for one in latest.values():
        of_problem[one.problem_id].append(one)
    return [
        figures
        for problem in problems
        for figures in _figures(
            problem, of_problem[problem.pk], samples, reasons.get(problem.pk), admitted.get(problem.pk, ())
        )
    ]


def _figures(
    problem: Problem,
    audits: Sequence[ProblemAudit],
    samples: Mapping[int, Sequence[AuditedSample]],
    reason: AuditReason | None,
    less_precise: Sequence[str],
) -> Iterator[AuditFigures]:
    if not audits:
        yield AuditFigures(problem, None, None, less_precise=less_precise, why_none="no audit was made")
    for one in audits:
        yield AuditFigures(
            problem, one.track, one.made_at, samples.get(one.pk, ()), reason, less_precise, one.why_not,
            one.proposal_id, one.pk,
        )  # fmt: skip


def _samples(release: Release) -> Mapping[int, Sequence[AuditedSample]]:
    """The judged mutants by audit."""
    rows = Evaluation.objects.live().filter(sample__audit_mutant__audit__problem__release=release)
    fields = (
        "sample__audit_mutant__audit", "sample__audit_mutant__kind", "sample__audit_mutant__name", "pk", "state",
        "problem__kind", "current_result__verdict",
    )  # fmt: skip
    found: dict[int, list[AuditedSample]] = defaultdict(list)
    for audit, kind, name, pk, state, of_kind, verdict in rows.order_by("pk").values_list(*fields):
        if state == EvaluationState.CANCELLED:
            outcome: MutantOutcome | None = "not_run"
        else:
            outcome = outcome_of(of_kind, verdict) if state == EvaluationState.DONE and verdict else None
        found[audit].append(AuditedSample(kind, name, pk, outcome))
    return found


def _reasons(release: Release) -> Mapping[int, AuditReason]:
    rows = _present_reasons().filter(problem__release=release).order_by("pk")
    return {one.problem_id: one for one in rows}


def reason_of(problem: Problem) -> AuditReason | None:
    """The organiser's reason for which the problem ranks although an answer that does no work passes it."""
    return _present_reasons().filter(problem=problem).last()


def _present_reasons() -> QuerySet[AuditReason]:
    return AuditReason.objects.filter(Q(problem__graded_since=None) | Q(at__gte=F("problem__graded_since")))


def _less_precise(release: Release) -> Mapping[int, Sequence[str]]:
    rows = ResultCase.objects.filter(
        result__current_of__purpose=Purpose.LIVE,
        result__current_of__submission__release=release,
        result__current_of__submission__entrant__slug=REFERENCE,
    )
    found: dict[int, set[str]] = defaultdict(set)
    for problem, fields in rows.values_list("result__evaluation__problem", "fields"):
        found[problem] |= {str(one["value"]) for one in fields if one["name"] == ADMITS}
    return {problem: sorted(names) for problem, names in found.items()}


def references_to_audit(release: Release, track: Track | None = None) -> QuerySet[Evaluation]:
    """References that passed, of problems as they are now that have no audit on their track."""
    rows = Evaluation.objects.live().filter(
        Q(problem__graded_since=None) | Q(submission__created_at__gte=F("problem__graded_since")),
        submission__release=release, submission__entrant__slug=REFERENCE, problem__is_left_out=False,
        problem__kind__in=NODE_KINDS, current_result__verdict=Verdict.PASSED,
    )  # fmt: skip
    if track is not None:
        rows = rows.filter(track=track)
    known = of_present(ProblemAudit.objects.filter(problem__release=release)).values_list("problem", "track")
    audited = set(known)
    places = [pk for pk, *place in rows.values_list("pk", "problem", "track") if tuple(place) not in audited]
    return Evaluation.objects.filter(pk__in=places)


def missing_of(release: Release, figures: Sequence[AuditFigures]) -> Mapping[int, str]:
    """The audit's reasons, by problem, for which a problem may not rank yet."""
    found = {}
    if release.is_draft:
        if settings.AUDIT_MUTANTS:
            waiting = references_to_audit(release).values_list("problem", flat=True)
            found = dict.fromkeys(waiting, _NOT_BEGUN)
        found |= {one.problem.pk: _pending_words(one) for one in figures if one.n_pending}
    return found | {one.problem.pk: _idle_words(one) for one in figures if one.blocks}


def _pending_words(one: AuditFigures) -> str:
    return f"its audit is not finished: {one.n_pending} of {len(one.samples)} answers are to be judged"


def _idle_words(one: AuditFigures) -> str:
    named = ", ".join(sample.title for sample in one.idle[:MOST_NAMED])
    more = f" and {len(one.idle) - MOST_NAMED} more" if len(one.idle) > MOST_NAMED else ""
    return (
        f"answers that do no work pass it ({named}{more}): mend its check, or give a public reason why it ranks all the"
        " same"
    )
