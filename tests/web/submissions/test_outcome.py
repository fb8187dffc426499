"""A finished submission is a result: rank, score, change, first failure, and what to do next, as far as one may see."""

from datetime import timedelta
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from leaderboard.actions.submissions.cancel import cancel
from leaderboard.models import Evaluation, Submission
from problems.models import Release
from runners.wire.protocol import Verdict
from tests import factories
from tests.factories import Cast
from tests.markup import markup
from tests.sealed.site import sealed_release, sent, settle_as
from tests.web.site.test_queries import _cost

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


def _page(client: Any, one: Submission) -> str:
    answer = client.get(one.get_absolute_url())
    assert answer.status_code == 200
    return markup(answer)


def _failing(*tasks: str) -> Any:
    return lambda one: factories.report(Verdict.TEST_FAILED if one.problem.task_id in tasks else Verdict.PASSED)


def test_its_rank_its_score_and_its_row_stand_on_it(client: Any, cast: Cast) -> None:
    made = factories.board_of_two(cast)
    text = _page(client, made.submissions.get(entrant=cast.strangers_entrant))
    slug = cast.strangers_entrant.slug
    row = f"{reverse('board', args=[made.slug])}?track=cpu-test#row-{slug}"
    assert f'<a href="{row}">2</a> of 2' in text
    assert "no interval: few problems" in text
    assert "pass@1 (%)</dt>" in text
    assert ">50.0 <small>" in text
    assert f'href="{row}">Its row on the board</a>' in text
    board = client.get(reverse("board", args=[made.slug]))
    assert f'id="row-{slug}"' in markup(board)


def test_the_first_failure_is_named_to_all_and_quoted_to_its_team_alone(client: Any, cast: Cast) -> None:
    made = factories.board_of_two(cast)
    lost = made.submissions.get(entrant=cast.strangers_entrant)
    failed = lost.evaluations.filter(problem__task_id="Shell/0").order_by("sample__index").first()
    words = f'First failure: <a href="{failed.get_absolute_url()}">{failed.problem.title}</a>'
    assert words in _page(client, lost)
    assert "All failures, by what" not in _page(client, lost)
    client.force_login(cast.stranger)
    assert words in _page(client, lost)
    assert "All failures, by what" in _page(client, lost)
    assert "First failure" not in _page(client, made.submissions.get(entrant=cast.entrant))


def test_the_score_is_held_against_the_entrants_last_submission(client: Any, cast: Cast) -> None:
    made = factories.release(4)
    track = factories.offer(made)
    first = factories.judged_submission(cast.entrant, made, track, _failing("Shell/0", "Shell/1"))
    second = factories.judged_submission(cast.entrant, made, track, script="exit 0 # better")
    third = factories.judged_submission(cast.entrant, made, track, _failing("Shell/0"), script="exit 0 # worse")
    assert "Since" not in _page(client, first)
    assert f'Since <a href="{first.get_absolute_url()}">' in _page(client, second)
    assert "up from 50.0" in _page(client, second)
    assert "down from 100.0" in _page(client, third)
    assert "it does not count on this board" in _page(client, first), "another one was chosen"


def test_a_cancelled_submission_is_nothing_to_be_held_against(client: Any, cast: Cast) -> None:
    made = factories.release(4)
    track = factories.offer(made)
    cancelled = factories.submission(cast.entrant, made, track, script="exit 1 # first")
    cancel(cast.owner, cancelled, "")
    text = _page(client, factories.judged_submission(cast.entrant, made, track))
    assert "Since" not in text


def test_the_matrix_has_time_and_speedup_of_each_problem(client: Any, cast: Cast) -> None:
    made = factories.release(2)
    track = factories.offer(made)
    one = factories.judged_submission(cast.entrant, made, track, lambda _: factories.report(speedup=2.0))
    text = _page(client, one)
    assert "Best time</th>" in text
    assert text.count('<td class="num">2.00×</td>') == 2


def test_hidden_results_are_told_to_the_team_alone(client: Any, cast: Cast, far_future: Any) -> None:
    made = factories.release(2, hidden_until=far_future)
    one = factories.judged_submission(cast.entrant, made, factories.offer(made))
    assert client.get(one.get_absolute_url()).status_code == 404
    client.force_login(cast.owner)
    assert "</a> of 1" in _page(client, one)


def test_a_sealed_part_says_when_it_opens(client: Any, cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    made = sealed_release()
    track = factories.offer(made)
    one = sent(cast.entrant, made, track)
    settle_as(monkeypatch, Verdict.WRONG_ANSWER)
    factories.judge(one)
    factories.rank(made, track)
    client.force_login(cast.owner)
    text = _page(client, one)
    assert "Its replies to questions are sealed. What rests on them is shown from" in text
    assert f"{made.reveals_at:%Y-%m-%d %H:%M}" in text
    assert "First failure" not in text, "it is a reply to a question"
    client.force_login(cast.organiser)
    assert "First failure" in _page(client, one)


def test_withdrawn_evaluations_are_not_done_and_nothing_is_said_to_go_on(client: Any, cast: Cast) -> None:
    made = factories.release(2)
    one = factories.submission(cast.entrant, made, factories.offer(made), n_samples=1)
    client.force_login(cast.owner)
    assert "You may close this page" in _page(client, one)
    factories.judge(one)
    assert "You may close this page" not in _page(client, one)
    other = factories.submission(cast.entrant, made, factories.offer(made), n_samples=1, script="exit 0 # other")
    cancel(cast.owner, other, "")
    text = _page(client, other)
    assert "0 of 2 evaluations done, 0 passed, 2 withdrawn." in text
    assert "You may close this page" not in text


def test_what_is_run_again_is_neither_done_nor_passed_until_it_ends(client: Any, cast: Cast) -> None:
    made = factories.release(2)
    one = factories.judged_submission(cast.entrant, made, factories.offer(made), n_samples=1)
    Evaluation.objects.filter(pk=one.evaluations.first().pk).update(state="queued")
    assert "1 of 2 evaluations done, 1 passed, 1 queued." in _page(client, one)


def test_a_closed_release_asks_nobody_to_submit_again(client: Any, cast: Cast) -> None:
    made = factories.release(2)
    one = factories.judged_submission(cast.entrant, made, factories.offer(made))
    client.force_login(cast.owner)
    assert "Submit again" in _page(client, one)
    Release.objects.update(closes_at=timezone.now() - timedelta(hours=1))
    assert "Submit again" not in _page(client, one)


def test_more_problems_and_submissions_cost_no_more_queries(client: Any, cast: Cast) -> None:
    costs = []
    for n in (3, 9):
        made = factories.release(n, f"costs-{n}")
        track = factories.offer(made)
        for text in ("one", "two"):
            last = factories.judged_submission(
                cast.entrant, made, track, _failing("Shell/1"), script=f"exit 0 # {text}"
            )
        factories.standings(made, track, n, prefix=f"many-{n}")
        costs.append(_cost(client, last.get_absolute_url()))
    assert costs[0] == costs[1]
