"""The history of a release in words, with dates: one list that the changelog page and the feeds show."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Exists, OuterRef, Q
from django.urls import reverse

from leaderboard import visibility
from leaderboard.models import AuditEntry, Clarification, Decision, FirstRank, Rejudge, VoidedResult, Voiding
from leaderboard.models.audit import target_of
from leaderboard.models.curation.decision import DecisionKind
from leaderboard.models.curation.rejudge import RejudgeState
from leaderboard.models.entrants.entrant import EntrantKind
from problems.models import Release, ReleaseState

MOST_OF_A_KIND = 200
MOST_VERIFICATIONS = 20


@dataclass(frozen=True)
class ChangelogEntry:
    """`key` names it in feeds and never changes; `path` is the page that tells more."""

    at: datetime
    kind: str
    title: str
    text: str
    path: str
    key: str
    release: Release


def changes_of(user: Any, release: Release) -> list[ChangelogEntry]:
    """The changes of one release that the user may see, newest first: the last 200 of each kind."""
    parts: Sequence[Iterator[ChangelogEntry]] = (
        _life(user, release),
        _corrections(release),
        _decisions(user, release),
        _answers(user, release),
        _judged_again(user, release),
        _voidings(user, release),
        _first_ranks(user, release),
    )
    return sorted((one for part in parts for one in part), key=lambda one: (one.at, one.key), reverse=True)


def _life(user: Any, release: Release) -> Iterator[ChangelogEntry]:
    """Published, frozen and followed by a revision."""
    board = reverse("board", args=[release.slug])
    if release.published_at:
        text = f"Revision {release.revision}, ranked by {release.primary_metric}."
        if release.unverified_reason:
            text += f" Published without verification on this site: {release.unverified_reason}"
        yield ChangelogEntry(release.published_at, "published", "Published", text, board, "published", release)
    if release.frozen_at:
        text = "It takes no more submissions. Its boards are kept as they stood."
        yield ChangelogEntry(release.frozen_at, "frozen", "Frozen", text, board, "frozen", release)
    later = Release.objects.visible_to(user).exclude(state=ReleaseState.DRAFT).filter(previous=release)
    for one in later.exclude(published_at=None):
        title, text = f"Revision {one.revision}", f"{one.title} ({one.slug}) was published after it."
        path = reverse("board", args=[one.slug])
        assert one.published_at is not None
        yield ChangelogEntry(one.published_at, "revision", title, text, path, f"revision-{one.revision}", release)


def _corrections(release: Release) -> Iterator[ChangelogEntry]:
    rows = AuditEntry.objects.filter(target=target_of(release), action="correct ranking")
    for one in rows.only("at", "reason")[:MOST_OF_A_KIND]:
        path = reverse("board", args=[release.slug])
        yield ChangelogEntry(
            one.at, "corrected", "Ranking corrected", one.reason, path, f"correction-{one.pk}", release
        )


def _decisions(user: Any, release: Release) -> Iterator[ChangelogEntry]:
    """Errata, those that undo one, and retractions."""
    kinds = {DecisionKind.PROBLEM_VOIDED: "voided", DecisionKind.PROBLEM_RESTORED: "counts again"}
    errata = Decision.objects.filter(kind__in=kinds, problem__release=release)
    for one in errata.select_related("problem").defer("problem__record")[:MOST_OF_A_KIND]:
        assert one.problem is not None
        path = reverse("problem", args=[release.slug, one.problem.slug])
        title = f"Erratum: {one.problem.task_id} {kinds[DecisionKind(one.kind)]}"
        yield ChangelogEntry(one.at, "erratum", title, one.public_reason, path, f"decision-{one.pk}", release)
    path = reverse("decisions", args=[release.slug])
    for one in visibility.visible_retractions(user, release).select_related("submission__entrant")[:MOST_OF_A_KIND]:
        assert one.submission is not None
        title = f"Submission #{one.submission_id} of {one.submission.entrant.name} retracted"
        yield ChangelogEntry(one.at, "retracted", title, one.public_reason, path, f"decision-{one.pk}", release)


def _answers(user: Any, release: Release) -> Iterator[ChangelogEntry]:
    rows: Any = visibility.visible_clarifications(user, release).filter(is_public=True)
    found: Sequence[Clarification] = rows.select_related("problem").defer("problem__record")[:MOST_OF_A_KIND]
    for one in found:
        path = reverse("problem", args=[release.slug, one.problem.slug]) + "#clarifications"
        text = f"{one.public_text} {one.answer}".strip()
        assert one.answered_at is not None
        title = f"Clarification: {one.problem.task_id}"
        yield ChangelogEntry(one.answered_at, "clarification", title, text, path, f"clarification-{one.pk}", release)


def _judged_again(user: Any, release: Release) -> Iterator[ChangelogEntry]:
    """Verifications that found no failure; and rejudges that were applied, unless results are hidden."""
    path = reverse("release_about", args=[release.slug])
    own = Rejudge.objects.filter(Q(release=release) | Q(problems__release=release)).distinct().select_related("track")
    verified = own.filter(is_verification=True, state=RejudgeState.DROPPED, ended_by=None).exclude(ended_at=None)
    for one in verified[:MOST_VERIFICATIONS]:
        assert one.ended_at is not None
        where = f" on {one.track.slug}" if one.track else ""
        text = f"The references of {one.n_evaluations} problems passed again{where}."
        yield ChangelogEntry(one.ended_at, "verified", "Verified again", text, path, f"verified-{one.pk}", release)
    if release.results_are_hidden and not visibility.is_organiser(user):
        return
    for one in own.filter(state=RejudgeState.APPLIED).exclude(ended_at=None)[:MOST_OF_A_KIND]:
        assert one.ended_at is not None
        title = f"{one.n_evaluations} results judged again"
        yield ChangelogEntry(one.ended_at, "rejudged", title, one.public_reason, path, f"rejudge-{one.pk}", release)


def _voidings(user: Any, release: Release) -> Iterator[ChangelogEntry]:
    """Results of a revoked node that stopped counting."""
    if release.results_are_hidden and not visibility.is_organiser(user):
        return
    if not Voiding.objects.exists():  # spares most sites a query over all results
        return
    here = VoidedResult.objects.filter(voiding=OuterRef("pk"), result__evaluation__submission__release=release)
    path = reverse("board", args=[release.slug])
    for one in Voiding.objects.filter(Exists(here))[:MOST_OF_A_KIND]:
        title = f"Results of node {one.node} voided"
        yield ChangelogEntry(one.at, "voided", title, one.public_reason, path, f"voiding-{one.pk}", release)


def _first_ranks(user: Any, release: Release) -> Iterator[ChangelogEntry]:
    """Each change of the first rank, by track."""
    if release.results_are_hidden and not visibility.is_organiser(user):
        return
    rows = FirstRank.objects.filter(release=release).exclude(entrant__kind=EntrantKind.SYSTEM)
    leaders: dict[tuple[str, datetime], list[str]] = defaultdict(list)
    for one in rows.select_related("entrant", "track")[:MOST_OF_A_KIND]:
        leaders[one.track.slug, one.since].append(one.entrant.name)
    for (track, since), names in leaders.items():
        path = reverse("board", args=[release.slug], query={"track": track})
        title = f"New first rank on {track}: {', '.join(sorted(names))}"
        text = f"By {release.primary_metric}, as ranked then."
        yield ChangelogEntry(since, "first", title, text, path, f"first-{track}-{since:%Y%m%dT%H%M%S%f}", release)
