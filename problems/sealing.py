"""The policy that a release states for its questions before it is published, and the questions that are sealed now."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from django.db.models import Q, QuerySet
from django.utils import timezone

from problems.models import Problem, QuestionPolicy, Release, ReleaseState
from problems.spec.kinds import SITE_KINDS
from scoring.metrics import Metric, Need, UnknownMetric, metric_named

FIELDS = ("question_policy", "question_samples", "reveals_at")


def sealed(path: str = "") -> Q:
    """The problems of which nobody but organisers is told any outcome now. `path` leads to them, as `problem__`."""
    names = {"kind__in": SITE_KINDS, "release__question_policy": QuestionPolicy.SEALED}
    later = Q(**{f"{path}release__reveals_at": None}) | Q(**{f"{path}release__reveals_at__gt": timezone.now()})
    return Q(**{f"{path}{name}": value for name, value in names.items()}) & later


def told_problems(release: Release) -> QuerySet[Problem]:
    """The problems of the release of which outcomes are told now: without its sealed questions."""
    return release.problems.exclude(kind__in=SITE_KINDS) if release.questions_are_sealed else release.problems.all()


def _questions_rank(release: Release) -> bool:
    """Whether its primary metric counts questions."""
    metric = _metric(release)
    return metric is not None and (metric.k is not None or Need.QUESTIONS in metric.needs)


def _metric(release: Release) -> Metric | None:
    """None where the draft names no metric, which has a fault of its own."""
    try:
        return metric_named(release.primary_metric)
    except UnknownMetric:
        return None


def policy_of(release: Release) -> str:
    """The policy that publication fixes. Without questions there is nothing to seal."""
    if not _questions(release).exists():
        return QuestionPolicy.PRACTICE.value
    if release.question_policy:
        return release.question_policy
    return QuestionPolicy.SEALED.value if _questions_rank(release) else QuestionPolicy.PRACTICE.value


def faults(release: Release) -> Iterator[str]:
    """The reasons why the draft cannot be published with its questions, a sentence each."""
    questions = _questions(release)
    if not questions.exists():
        return
    is_sealed, now = policy_of(release) == QuestionPolicy.SEALED, timezone.now()
    if is_sealed and (release.reveals_at is None or release.reveals_at <= now):
        yield (
            f"The questions of {release.slug} are sealed: set `reveals at` to a later time, at which everybody is shown"
            " what rests on them, or choose the policy practice, which tells verdicts at once."
        )
    k = metric.k or 1 if (metric := _metric(release)) else 1
    if is_sealed and k > release.question_samples:
        yield (
            f"{release.slug} is ranked by pass@{k}, and its sealed questions take {release.question_samples} replies."
            " Raise `replies to a sealed question`, or choose another primary metric."
        )
    if words := why_too_early(release, release.reveals_at or now if is_sealed else now):
        yield words


def why_too_early(release: Release, at: datetime) -> str:
    """The reason why it may not tell its questions then: another published release seals one of them for longer."""
    digests = _questions(release).values("grading_digest")
    others = Problem.objects.filter(sealed(), grading_digest__in=digests, release__reveals_at__gt=at)
    others = others.exclude(release=release).exclude(release__state=ReleaseState.DRAFT)
    first = others.select_related("release").order_by("-release__reveals_at", "position").first()
    if first is None:
        return ""
    until = f"{first.release.reveals_at:%Y-%m-%d %H:%M} UTC"
    return f"{first.task_id} is a sealed question of {first.release.slug} until {until}. Seal it until then here, too."


def told_elsewhere(release: Release) -> int:
    """How many of its questions another published release tells before it."""
    told = Problem.objects.filter(kind__in=SITE_KINDS, grading_digest__in=_questions(release).values("grading_digest"))
    told = told.exclude(release=release).exclude(release__state=ReleaseState.DRAFT)
    told = told.exclude(sealed() & Q(release__reveals_at__gte=release.reveals_at or timezone.now()))
    return told.order_by().values("grading_digest").distinct().count()


def keep_sealed(release: Release, earlier: Sequence[Release]) -> None:
    """Set the fields of a revision as its earlier releases have them: sealed where one is, until the last of them."""
    sealed_ones = [one for one in earlier if one.has_sealed_questions]
    release.question_policy = QuestionPolicy.SEALED.value if sealed_ones else earlier[0].question_policy
    release.question_samples = min(one.question_samples for one in earlier)
    release.reveals_at = max((one.reveals_at for one in sealed_ones if one.reveals_at), default=None)


def _questions(release: Release) -> QuerySet[Problem]:
    return Problem.objects.filter(release=release, kind__in=SITE_KINDS)
