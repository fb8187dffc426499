"""Which submission counts: the one last chosen, of those that are finished and unretracted."""

import importlib
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.db import DatabaseError, connection, transaction
from django.utils import timezone

from leaderboard import migrations
from leaderboard.actions.curation.decide import retract
from leaderboard.actions.submissions.cancel import cancel
from leaderboard.actions.submissions.choose import choose, offered_tracks
from leaderboard.errors import Refused
from leaderboard.models import AuditEntry, Chosen, Counted, Entrant, ReleaseTrack, Submission, Track
from leaderboard.standings import history
from leaderboard.standings.rank import rebuild
from problems import triggers
from problems.models import Release
from runners.wire.protocol import Verdict
from tests import factories

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]
[MIGRATION] = (Path(migrations.__path__[0])).glob("*_earlier_choices.py")
FAILS = factories.report(Verdict.TEST_FAILED)


class Place:
    """The owner's entrant with a good submission, and a worse one that was sent after it."""

    def __init__(self, cast: Any) -> None:
        self.cast = cast
        self.release = factories.release(3)
        self.track = factories.offer(self.release)
        self.good = self.judged("good")
        self.worse = self.judged("worse", lambda _: FAILS)

    def judged(self, script: str, verdict_of: Any = None, **more: Any) -> Submission:
        words = f"exit 0 # {script}"
        return factories.judged_submission(
            self.cast.entrant, self.release, self.track, verdict_of, script=words, **more
        )

    def counted(self) -> Submission:
        factories.rank(self.release, self.track)
        return Counted.objects.get(release=self.release, track=self.track).submission

    def choose(self, submission: Submission, user: Any = None) -> list[Track]:
        return choose(user or self.cast.teammate, submission, [self.track])


@pytest.fixture
def place(cast: Any) -> Place:
    return Place(cast)


def test_the_last_choice_counts_and_says_who_made_it(place: Place) -> None:
    assert place.counted() == place.worse
    assert place.choose(place.good) == [place.track]
    assert place.counted() == place.good
    assert place.release.standings.get().pass_at_1 == 1.0
    event = Chosen.objects.latest("pk")
    assert (event.submission, event.track, event.chosen_by) == (place.good, place.track, place.cast.teammate)
    assert AuditEntry.objects.filter(action="choose", actor=place.cast.teammate).count() == 1
    assert rebuild(check=True) == []


def test_choosing_the_same_again_makes_no_event(place: Place) -> None:
    place.choose(place.good)
    assert place.choose(place.good) == []
    assert Chosen.objects.count() == 3  # both were chosen when they were sent


def test_a_new_submission_counts_once_it_is_finished(place: Place) -> None:
    fresh = factories.submission(place.cast.entrant, place.release, place.track, script="exit 0 # third")
    assert place.counted() == place.worse
    factories.judge(fresh)
    assert place.counted() == fresh
    assert rebuild(check=True) == []


def test_a_choice_made_while_a_new_one_runs_stays(place: Place) -> None:
    fresh = factories.submission(place.cast.entrant, place.release, place.track, script="exit 0 # third")
    place.choose(place.good)
    factories.judge(fresh)
    assert place.counted() == place.good


def test_the_first_submission_stands_while_it_is_judged(place: Place) -> None:
    first = factories.submission(place.cast.strangers_entrant, place.release, place.track)
    factories.rank(place.release, place.track)
    assert Counted.objects.get(entrant=place.cast.strangers_entrant).submission == first


def test_without_the_chosen_one_the_choice_before_it_counts(place: Place) -> None:
    place.choose(place.good)
    retract(place.cast.organiser, place.good, "Copied.")
    assert place.counted() == place.worse
    with pytest.raises(Refused, match="was retracted by an organiser"):
        place.choose(place.good)


def test_a_submission_that_did_not_ask_to_count_can_be_chosen_later(place: Place) -> None:
    quiet = place.judged("quiet", counted=False)
    assert place.counted() == place.worse
    assert offered_tracks(place.cast.owner, quiet) == [place.track]
    place.choose(quiet)
    assert place.counted() == quiet
    assert offered_tracks(place.cast.owner, quiet) == []


def partial(place: Place) -> Submission:
    Submission.objects.filter(pk=place.good.pk).update(is_full=False)
    return place.good


def running(place: Place) -> Submission:
    return factories.submission(place.cast.entrant, place.release, place.track, script="exit 0 # runs")


def cancelled(place: Place) -> Submission:
    made = running(place)
    cancel(place.cast.owner, made)
    return made


def closed(place: Place) -> Submission:
    with transaction.atomic():
        triggers.remove(connection)
        Release.objects.filter(pk=place.release.pk).update(closes_at=timezone.now() - timedelta(minutes=1))
        triggers.install(connection)
    return place.good


@pytest.mark.parametrize(
    ("made", "code"),
    [(partial, "not_full"), (running, "not_finished"), (cancelled, "not_finished"), (closed, "release_closed")],
)
def test_what_cannot_be_chosen_is_refused_in_words(place: Place, made: Any, code: str) -> None:
    submission = made(place)
    with pytest.raises(Refused) as refused:
        place.choose(submission)
    assert refused.value.code == code
    assert offered_tracks(place.cast.owner, submission) == []


@pytest.mark.parametrize("who", ["stranger", "organiser"])
def test_only_the_team_chooses(place: Place, who: str) -> None:
    with pytest.raises(Refused, match="Only the entrant's team chooses"):
        place.choose(place.good, getattr(place.cast, who))


def test_a_track_that_it_was_not_sent_to_is_named(place: Place) -> None:
    other = factories.offer(place.release, "cpu-other")
    with pytest.raises(Refused, match=r"was not sent to cpu-other\. It is on: cpu-test\."):
        choose(place.cast.owner, place.good, [other])
    with pytest.raises(Refused, match=r"Name at least one track of submission .*: cpu-test"):
        choose(place.cast.owner, place.good, [])


def test_a_board_of_a_past_day_has_the_choice_of_then(place: Place) -> None:
    now, ago = timezone.now(), {"good": 9, "worse": 7}
    for name, days in ago.items():
        one = getattr(place, name)
        then = now - timedelta(days=days)
        Submission.objects.filter(pk=one.pk).update(created_at=then, finished_at=then)
        Chosen.objects.create(submission=one, track=place.track, at=then)
        one.problem_scores.update(last_result_at=then)
    Chosen.objects.create(submission=place.good, track=place.track, at=now - timedelta(days=3))
    found = {days: on_day(place, now - timedelta(days=days)) for days in (10, 8, 6, 2)}
    assert found == {10: [], 8: [place.good.pk], 6: [place.worse.pk], 2: [place.good.pk]}


def on_day(place: Place, moment: datetime) -> list[int]:
    row = ReleaseTrack.objects.select_related("release", "track").get(release=place.release)
    board = history.board_at(row, moment.astimezone(UTC).date(), None)
    return [one.submission_id for one in board.counted]


def test_the_check_names_a_counted_submission_that_was_not_chosen(place: Place) -> None:
    Counted.objects.update(submission=place.good)
    assert any("counts another than the chosen" in line for line in rebuild(check=True))
    rebuild()
    assert place.counted() == place.worse
    assert rebuild(check=True) == []


def test_an_event_never_changes(place: Place) -> None:
    with pytest.raises(DatabaseError, match="a choice never changes"), transaction.atomic():
        Chosen.objects.update(submission=place.good)
    with pytest.raises(DatabaseError, match="a choice never changes"), transaction.atomic():
        Chosen.objects.all().delete()


def test_each_track_has_a_choice_of_its_own(place: Place) -> None:
    other = factories.offer(place.release, "cpu-other")
    both = factories.submission(place.cast.entrant, place.release, place.track, script="exit 0 # both")
    assert list(both.tracks.all()) == [place.track]
    factories.judged_submission(place.cast.entrant, place.release, other, script="exit 0 # other")
    place.choose(place.good)
    counted = dict(Counted.objects.filter(entrant=place.cast.entrant).values_list("track__slug", "submission"))
    assert counted["cpu-test"] == place.good.pk
    assert counted["cpu-other"] not in {place.good.pk, place.worse.pk}


def test_the_migration_chooses_what_asked_to_count_when_it_was_sent(place: Place) -> None:
    place.judged("quiet", counted=False)
    before = set(Chosen.objects.values_list("submission", "track", "chosen_by"))
    with transaction.atomic():
        triggers.remove(connection)
        Chosen.objects.all().delete()
        triggers.install(connection)
    importlib.import_module(f"leaderboard.migrations.{MIGRATION.stem}").choose_sent(apps, connection.schema_editor())
    assert set(Chosen.objects.values_list("submission", "track", "chosen_by")) == before
    assert set(Chosen.objects.values_list("at", flat=True)) == {place.good.created_at, place.worse.created_at}
    assert Entrant.objects.get(slug="alpha").counted.get().submission == place.worse
    assert rebuild(check=True) == []
