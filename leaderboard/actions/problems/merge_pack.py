"""Imports a pack into a draft that is there: a comparison, then what was chosen of it, in one transaction.

All raise NotAllowed, or ReleaseRefused with the reason. `user` None is the site's own shell.
"""

from collections.abc import Sequence
from typing import Any

from django.db import transaction

from leaderboard.actions.curation.curate import check_organiser
from leaderboard.actions.curation.tracks import no_hardware, offer
from leaderboard.actions.problems.drafts import told, withdraw
from leaderboard.errors import Refused
from leaderboard.models import ProblemTrack
from leaderboard.models.audit import record
from leaderboard.models.audit_values import edit_detail
from leaderboard.site import stale_forms
from leaderboard.site.stale_forms import Stale
from problems.actions import merging
from problems.actions.merging import Changed, Choices, Merged, PackBesideDraft
from problems.formats.compute_eval.packs import ProblemPack
from problems.models import Problem, Release
from problems.spec.kinds import NODE_KINDS

MAX_NAMED = 100
"""Problems that the import's entry names; the rest is counted."""


class DraftChanged(Refused):
    """The draft is not what the report was made of."""

    def __init__(self, stale: Stale) -> None:
        acts = [f"{one.actor_name} at {one.at:%Y-%m-%d %H:%M} UTC ({one.told})" for one in stale.entries]
        by = f" by {'; '.join(acts)}" if acts else ""
        super().__init__(
            "draft_changed",
            f"The problems of {stale.row} were changed after the report was made{by}. Nothing was imported. This is"
            " the report on the draft as it is now: read it, and import again.",
        )


def compare(user: Any, release: Release, pack: ProblemPack) -> PackBesideDraft:
    """Stores nothing."""
    check_organiser(user)
    return merging.compare(release, pack)


def token_of(release: Release) -> str:
    """A token of the draft's present state: `merge` refuses another."""
    return stale_forms.token_of(release, {"problems": merging.state_of(release)})


@transaction.atomic
def merge(user: Any, release: Release, pack: ProblemPack, chosen: Choices, token: str) -> Merged:
    """Do what was chosen. Also raises DraftChanged."""
    check_organiser(user)
    stale_forms.lock(release)
    release.refresh_from_db()
    stale = stale_forms.stale_since(token, release, {"problems": merging.state_of(release)})
    if stale is not None:
        raise DraftChanged(stale)
    found = merging.compare(release, pack)
    before = {one.row.pk: told(one.row) for one in found.changed}
    done = merging.merge(found, chosen)
    release.refresh_from_db()
    for row in [*(one.row for one in done.replaced if one.regraded), *done.left_out]:
        withdraw(row)
    _offer_anew(user, release, done)
    _audit(user, release, pack, done, before)
    return done


def _offer_anew(user: Any, release: Release, done: Merged) -> None:
    """The tracks look again whether they can run what is new or must be verified anew."""
    rows = done.must_be_verified
    ProblemTrack.objects.filter(problem__in=[*rows, *done.left_out]).delete()
    if rows and not release.problems.filter(kind__in=NODE_KINDS).exists():
        offer(user, release, no_hardware())
    for place in release.on_tracks.select_related("track"):
        offer(user, release, place.track)


def _audit(user: Any, release: Release, pack: ProblemPack, done: Merged, before: dict[int, dict[str, Any]]) -> None:
    """One entry for the import, and one for each problem that was replaced, with the old values and the new."""
    for one in done.replaced:
        values = edit_detail(before[one.row.pk], _told_now(release, one))
        record(user, "change problem", release, problem=one.task_id, regraded=one.regraded, **values)
    record(
        user, "import into draft", release, pack=pack.digest[:12],
        added=_named(done.added), left_out=_named(done.left_out), n_replaced=len(done.replaced),
    )  # fmt: skip


def _told_now(release: Release, one: Changed) -> dict[str, Any]:
    one.row.release = release
    return told(one.row)


def _named(rows: Sequence[Problem]) -> list[str]:
    more = [f"and {len(rows) - MAX_NAMED} more"] if len(rows) > MAX_NAMED else []
    return [row.task_id for row in rows[:MAX_NAMED]] + more
