"""A board as it stood at the end of a day, over problems chosen by tag and difficulty, and while it changes."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from leaderboard.actions.curation.decide import void_problem
from leaderboard.models import Chosen, Result, Submission
from leaderboard.standings import history
from tests import factories
from tests.markup import markup

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


def test_a_choice_that_fits_no_problem_says_so_and_leads_back(client: Any, cast: factories.Cast) -> None:
    hard = {"metadata": {"tags": ["tiled"], "difficulty": "hard"}}
    made = factories.release(4, problem=lambda n: factories.example_problem(n, **(hard if n == 0 else {})))
    track = factories.offer(made)
    factories.judged_submission(cast.entrant, made, track)
    path = reverse("board", args=[made.slug])
    tiled = markup(client.get(path + "?tags=tiled&difficulty=hard"))
    assert "over 1 of 4 problems (tag tiled; difficulty hard)" in tiled
    nothing = markup(client.get(path + "?tags=tiled&groups=sums"))
    assert "No problem fits all of these filters." in nothing
    assert f'<a href="{path}' in nothing or '<a href="?track=' in nothing


def finish(submission: Submission, when: datetime) -> None:
    """Everything of it happened at that time."""
    Submission.objects.filter(pk=submission.pk).update(created_at=when, finished_at=when)
    submission.problem_scores.update(last_result_at=when)
    Chosen.objects.bulk_create(Chosen(submission=submission, track=track, at=when) for track in submission.tracks.all())


class History:
    """Two entrants; the first sent a second submission two days ago that is better than its first of ten days ago."""

    def __init__(self, cast: factories.Cast) -> None:
        self.now = timezone.now()
        self.release = factories.release()
        self.track = factories.offer(self.release)
        fails = factories.report(factories.Verdict.TEST_FAILED)
        self.first = self.judged(cast.entrant, lambda _: fails, "first", 10)
        self.other = self.judged(
            cast.strangers_entrant, lambda e: factories.report() if e.sample.index else fails, "o", 9
        )
        self.second = self.judged(cast.entrant, None, "second", 2)

    def judged(self, entrant: Any, verdict_of: Any, script: str, days_ago: int) -> Submission:
        made = factories.judged_submission(entrant, self.release, self.track, verdict_of, script=f"exit 0 # {script}")
        when = self.now - timedelta(days=days_ago)
        finish(made, when)
        return made

    def day(self, days_ago: int) -> str:
        return f"{self.now - timedelta(days=days_ago):%Y-%m-%d}"


@pytest.fixture
def past(db: Any, cast: factories.Cast) -> History:
    return History(cast)


def shares(client: Any, past: History, query: str) -> dict[str, tuple[float, int]]:
    rows = client.get(reverse("board_json", args=[past.release.slug]) + query).json()["rows"]
    return {row["entrant"]: (row["pass@1"], row["rank"]) for row in rows}


def test_a_board_of_a_day_has_the_submissions_of_then(client: Any, past: History) -> None:
    now = {"alpha": (1.0, 1), "strangers-model": (0.5, 2)}
    assert shares(client, past, "") == now
    assert shares(client, past, f"?as_of={past.day(0)}") == now
    assert shares(client, past, f"?as_of={past.day(5)}") == {"strangers-model": (0.5, 1), "alpha": (0.0, 2)}
    assert shares(client, past, f"?as_of={past.day(10)}") == {"alpha": (0.0, 1)}
    assert shares(client, past, f"?as_of={past.day(11)}") == {}
    html = markup(client.get(reverse("board", args=[past.release.slug]) + f"?as_of={past.day(5)}"))
    assert f"the board as it stood at the end of {past.day(5)} (UTC)" in html
    empty = markup(client.get(reverse("board", args=[past.release.slug]) + f"?as_of={past.day(11)}"))
    assert f"No submission had finished by the end of {past.day(11)}" in empty


def test_a_board_of_a_day_leaves_out_what_was_ruled_later(client: Any, past: History, cast: factories.Cast) -> None:
    void_problem(cast.organiser, past.release.problems.order_by("position").first(), "Its test was wrong.")
    factories.rank(past.release, past.track)
    day = f"?as_of={past.day(5)}"
    then = client.get(reverse("board_json", args=[past.release.slug]) + day).json()["rows"]
    now = client.get(reverse("board_json", args=[past.release.slug])).json()["rows"]
    assert ({row["problems"] for row in then}, {row["problems"] for row in now}) == ({3}, {2})


def test_a_board_of_a_day_has_the_results_of_then(client: Any, past: History, cast: factories.Cast) -> None:
    """Its only submission of then was judged again yesterday; a result of then is still there."""
    entrant = factories.EntrantFactory(name="Rerun", slug="rerun", owner=cast.owner)
    made = factories.submission(entrant, past.release, past.track, script="exit 0 # rerun")
    old = past.now - timedelta(days=8)
    for evaluation in made.evaluations.all():
        facts = {"origin": "fleet", "verdict": "test_failed", "witness": "seen"}
        Result.objects.create(evaluation=evaluation, created_at=old, **facts)
    factories.judge(made)
    factories.rank(past.release, past.track)
    Submission.objects.filter(pk=made.pk).update(finished_at=old)
    Chosen.objects.create(submission=made, track=past.track, at=old)
    assert shares(client, past, "")["rerun"] == (1.0, 1)
    assert shares(client, past, f"?as_of={past.day(5)}")["rerun"][0] == 0.0


def test_days_that_are_none_are_named(client: Any, past: History) -> None:
    path = reverse("board", args=[past.release.slug])
    assert "is not a date" in markup(client.get(path + "?as_of=yesterday"))
    assert "is in the future" in markup(client.get(path + "?as_of=2999-01-01"))
    answer = client.get(f"/api/v1/releases/{past.release.slug}/board?as_of=yesterday")
    assert answer.status_code == 400


def test_a_day_that_would_take_too_long_is_refused_with_the_reason(
    client: Any, past: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history, "MOST_SCORES", 1)
    html = markup(client.get(reverse("board", args=[past.release.slug]) + f"?as_of={past.day(5)}"))
    assert "would read 6 aggregates" in html


def test_the_end_of_a_day_is_utc() -> None:
    assert history.end_of(datetime(2026, 3, 1, tzinfo=UTC).date()) == datetime(2026, 3, 2, tzinfo=UTC)


def test_a_board_says_that_it_is_live_only_while_a_counted_submission_is_graded(
    client: Any, cast: factories.Cast
) -> None:
    made = factories.release(2)
    track = factories.offer(made)
    path = reverse("board", args=[made.slug])
    factories.submission(cast.strangers_entrant, made, track, counted=False)
    assert "data-live" not in markup(client.get(path))
    stored = factories.submission(cast.entrant, made, track)
    assert "data-live" in markup(client.get(path))
    assert "data-live" not in markup(client.get(f"{path}?as_of={timezone.now():%Y-%m-%d}"))
    factories.judge(stored)
    factories.rank(made, track)
    assert "data-live" not in markup(client.get(path))
