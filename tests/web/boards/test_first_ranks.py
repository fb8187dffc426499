"""News of a board's first rank: told once it has changed, and not while its leader is judged anew."""

import importlib
from typing import Any

from django.apps import apps

from leaderboard.actions.curation.decide import retract
from leaderboard.models import FirstRank, ReleaseTrack
from runners.wire.protocol import Verdict
from tests import factories
from tests.factories import Cast


def leaders() -> list[str]:
    """The leaders after every change so far, the newest last."""
    return list(FirstRank.objects.order_by("pk").values_list("entrant__slug", flat=True))


def test_a_leader_who_submits_again_makes_no_news_of_the_second(cast: Cast) -> None:
    made = factories.release(2)
    track = factories.offer(made)
    fails = {"Shell/0"}
    factories.judged_submission(
        cast.strangers_entrant, made, track,
        lambda one: factories.report(Verdict.TEST_FAILED if one.problem.task_id in fails else Verdict.PASSED),
    )  # fmt: skip
    factories.judged_submission(cast.entrant, made, track)
    first, second = cast.strangers_entrant.slug, cast.entrant.slug
    assert leaders() == [first, second]
    again = factories.submission(cast.entrant, made, track, script="exit 0 # better")
    factories.rank(made, track)
    assert leaders() == [first, second], "the leader waits for its results"
    factories.judge(again, lambda _: factories.report(Verdict.TEST_FAILED))
    factories.rank(made, track)
    assert leaders() == [first, second, first]


def test_who_led_before_the_upgrade_is_no_news(cast: Cast) -> None:
    made = factories.release(2)
    track = factories.offer(made)
    stored = factories.judged_submission(cast.entrant, made, track)
    FirstRank.objects.all().delete()
    importlib.import_module("leaderboard.migrations.0025_first_ranks").seed(apps, None)
    seeded = FirstRank.objects.get()
    assert (seeded.entrant, seeded.since) == (cast.entrant, stored.finished_at)
    factories.rank(made, track)
    assert FirstRank.objects.count() == 1


def test_retracting_an_older_submission_renews_the_boards_of_past_days(cast: Cast, client: Any) -> None:
    made = factories.release(2)
    track = factories.offer(made)
    older = factories.judged_submission(cast.entrant, made, track)
    factories.judged_submission(cast.entrant, made, track, script="exit 0 # newer")
    place = ReleaseTrack.objects.get(release=made, track=track)
    retract(cast.organiser, older, "It was sent by mistake.")
    place.refresh_from_db()
    assert place.touched_at > place.ranked_at
