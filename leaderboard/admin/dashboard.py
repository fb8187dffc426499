"""The admin's home: what needs a person, each with its count, the first few rows and a link to all of them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db.models import Count, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone

from leaderboard.curation.verification import of_present_problems
from leaderboard.flags import queue as flag_queue
from leaderboard.models import AuditEntry, Evaluation, Submission
from leaderboard.models.entrants.entrant import REFERENCE
from leaderboard.models.submissions.evaluation import OPEN_STATES
from problems.models import Problem, Release, ReleaseState
from problems.spec.kinds import NODE_KINDS
from runners.wire.protocol import Purpose, Verdict

SHOWN_LINES = 5
COUNTED = 1000
"""Rows are counted up to this number, so that a long queue does not make the page slow."""
STUCK_AFTER = timedelta(hours=6)
IMPORTS = ("import", "import into draft", "import results")


@dataclass(frozen=True)
class PanelLine:
    """One row of a panel: a link and a note."""

    text: str
    url: str
    note: str = ""


@dataclass(frozen=True)
class Panel:
    """One thing that may need a person. `count` is a number as text, and `url` leads to all of them."""

    title: str
    explains: str
    url: str
    count: str
    lines: Sequence[PanelLine]
    empty: str

    needs_a_person: bool = True
    """Whether a count above 0 is work to do."""


_PANELS: list[tuple[str, Callable[[], Panel]]] = []


def register(permission: str) -> Callable[[Callable[[], Panel]], Callable[[], Panel]]:
    """Decorator: the function's panel stands on the dashboard of users with the permission, in registration order."""

    def add(make: Callable[[], Panel]) -> Callable[[], Panel]:
        _PANELS.append((permission, make))
        return make

    return add


def panels(request: HttpRequest) -> list[Panel]:
    """Each makes a fixed number of queries."""
    user: Any = request.user
    return [make() for permission, make in _PANELS if user.has_perm(permission)]


def bounded_count(rows: QuerySet[Any]) -> str:
    """The number of rows as text, `1000+` beyond what is counted."""
    found = rows.order_by()[: COUNTED + 1].count()
    return f"{COUNTED}+" if found > COUNTED else str(found)


def ago(moment: Any) -> str:
    """The age in its largest whole unit, as `3 h`."""
    seconds = int((timezone.now() - moment).total_seconds())
    for unit, size in (("d", 86_400), ("h", 3600), ("min", 60)):
        if seconds >= size:
            return f"{seconds // size} {unit}"
    return f"{max(seconds, 0)} s"


@register("leaderboard.view_flag")
def _to_decide() -> Panel:
    rows = flag_queue.queue({})
    shown = rows.select_related("result__evaluation__problem", "result__evaluation__submission__entrant")[:SHOWN_LINES]
    return Panel(
        "To decide",
        "Flags of current results without a ruling, and rulings appealed against.",
        reverse("admin:leaderboard_flag_changelist"),
        bounded_count(rows),
        [
            PanelLine(
                flag.code,
                reverse("admin:leaderboard_flag_change", args=[flag.pk]),
                f"{flag.result.evaluation.submission.entrant}, {flag.result.evaluation.problem}",
            )
            for flag in shown
        ],
        "No flag waits for a ruling.",
    )


@dataclass(frozen=True)
class Unverified:
    """A release with the number of problems that nodes judge, and of those whose reference has passed."""

    release: Release
    n_for_nodes: int
    n_proven: int


def unverified_releases() -> list[Unverified]:
    """Newest first. Makes four queries, which begin with the few submissions of references."""
    references = list(Submission.objects.filter(entrant__slug=REFERENCE).values_list("pk", flat=True))
    of_references = of_present_problems(Evaluation.objects.live()).filter(submission__in=references)
    passed = of_references.filter(current_result__verdict=Verdict.PASSED)
    proven = _by_release(passed, "submission__release", Count("problem", distinct=True))
    for_nodes = _by_release(Problem.objects.filter(kind__in=NODE_KINDS), "release", Count("pk"))
    releases = Release.objects.exclude(state=ReleaseState.FROZEN).defer("pack_metadata").order_by("-created_at")
    found = [Unverified(one, for_nodes.get(one.pk, 0), proven.get(one.pk, 0)) for one in releases]
    return [one for one in found if one.n_proven < one.n_for_nodes or one.release.unverified_reason]


def _by_release(rows: QuerySet[Any], release: str, count: Count) -> dict[int, int]:
    return dict(rows.order_by().values_list(release).annotate(n=count))


@register("problems.view_release")
def _unverified() -> Panel:
    found = unverified_releases()
    return Panel(
        "Unverified releases",
        "Drafts, and published releases with a problem whose reference has passed on no node.",
        reverse("admin:problems_release_changelist", query={"verified": "no"}),
        str(len(found)),
        [
            PanelLine(
                one.release.title,
                reverse("admin:problems_release_change", args=[one.release.pk]),
                f"{one.release.get_state_display().lower()}, {one.n_proven} of {one.n_for_nodes} references passed",
            )
            for one in found[:SHOWN_LINES]
        ],
        "No release waits for a verification.",
    )


def stuck(evaluations: QuerySet[Evaluation]) -> QuerySet[Evaluation]:
    """Evaluations that have been open for longer than `STUCK_AFTER`."""
    return evaluations.filter(purpose=Purpose.LIVE, state__in=OPEN_STATES, queued_at__lt=timezone.now() - STUCK_AFTER)


@register("leaderboard.view_evaluation")
def _stuck() -> Panel:
    rows = stuck(Evaluation.objects.all())
    shown = rows.select_related("problem", "track", "submission__entrant").order_by("queued_at")[:SHOWN_LINES]
    return Panel(
        "Stuck evaluations",
        f"Queued or running for more than {STUCK_AFTER.total_seconds() / 3600:.0f} hours.",
        reverse("admin:leaderboard_evaluation_changelist", query={"stuck": "yes"}),
        bounded_count(rows),
        [
            PanelLine(
                f"{one.submission.entrant}, {one.problem}",
                reverse("admin:leaderboard_evaluation_change", args=[one.pk]),
                f"{one.get_state_display().lower()} on {one.track}, {ago(one.queued_at)}",
            )
            for one in shown
        ],
        "Nothing has waited that long.",
    )


@register("leaderboard.view_auditentry")
def _last_imports() -> Panel:
    rows = AuditEntry.objects.filter(action__in=IMPORTS)
    return Panel(
        "Last imports",
        "Releases and results that were imported.",
        reverse("admin:leaderboard_auditentry_changelist", query={"act": "imports"}),
        bounded_count(rows),
        [
            PanelLine(
                entry.target,
                reverse("admin:leaderboard_auditentry_change", args=[entry.pk]),
                f"{entry.action} by {entry.actor_name}, {ago(entry.at)} ago",
            )
            for entry in rows.order_by("-id")[:SHOWN_LINES]
        ],
        "Nothing has been imported yet.",
        needs_a_person=False,
    )
