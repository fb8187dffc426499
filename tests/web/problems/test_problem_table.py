"""The table of problems and a problem's ranking: sorted, filtered, voided ones marked, and one sample a row."""

import re
from typing import Any

import pytest
from django.urls import reverse

from leaderboard.actions.curation.decide import void_problem
from leaderboard.models import ProblemTrack
from leaderboard.standings import rank
from problems.models import Problem, Release
from tests import factories
from tests.made_once import copied, of_module
from tests.markup import markup

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]

DIFFICULTIES = ("hard", "easy", "medium", "easy")


class Shop:
    """Four problems on one track. Alpha solves 0 and 1 (0 in one of two samples), the other model solves 1."""

    def __init__(self, cast: factories.Cast) -> None:
        self.cast = cast
        self.release = factories.release(4, problem=self.problem, ks=[1])
        self.track = factories.offer(self.release)
        factories.judged_submission(cast.entrant, self.release, self.track, self.alpha)
        factories.judged_submission(cast.strangers_entrant, self.release, self.track, self.other)

    @staticmethod
    def problem(n: int) -> dict[str, Any]:
        made = factories.example_problem(n)
        tags = ["first"] if n == 0 else ["rest"]
        return made | {"metadata": {**made.get("metadata", {}), "difficulty": DIFFICULTIES[n], "tags": tags}}

    @staticmethod
    def alpha(evaluation: Any) -> Any:
        position, index = evaluation.problem.position, evaluation.sample.index
        if position == 1 or (position == 0 and index == 0):
            return factories.report(speedup=2.0 + index)
        return factories.report(factories.Verdict.TEST_FAILED)

    @staticmethod
    def other(evaluation: Any) -> Any:
        passes = evaluation.problem.position == 1
        return factories.report(speedup=1.5) if passes else factories.report(factories.Verdict.TEST_FAILED)

    def problem_at(self, position: int) -> Problem:
        return self.release.problems.get(position=position)


made_site = of_module(lambda: Shop(factories.Cast.make()))
shop = copied


@pytest.fixture
def cast(shop: Shop) -> factories.Cast:
    return shop.cast


def table(client: Any, made: Release, query: str = "") -> str:
    answer = client.get(reverse("problems", args=[made.slug]) + query)
    assert answer.status_code == 200
    return markup(answer)


def ids(html: str) -> list[str]:
    return re.findall(r"<td><code>([^<]+)</code>", html)


def test_each_problem_says_who_solved_it_and_how_many_samples_pass(client: Any, shop: Shop) -> None:
    rows = table(client, shop.release).split("<tr")[2:]
    assert "1/2" in rows[0] and "25.0 %" in rows[0] and "2.00×" in rows[0]
    assert "2/2" in rows[1] and "100.0 %" in rows[1] and "3.00×" in rows[1]
    assert "0/2" in rows[2]


@pytest.mark.parametrize(
    ("sort", "order"),
    [("id", "0123"), ("-id", "3210"), ("difficulty", "1320"), ("-solved", "1023"), ("speedup", "0123"),
     ("-samples", "1023")],
)  # fmt: skip
def test_every_column_sorts(sort: str, order: str, client: Any, shop: Shop) -> None:
    html = table(client, shop.release, f"?sort={sort}")
    assert ids(html) == [f"Shell/{n}" for n in order]
    assert f'aria-sort="{"descending" if sort.startswith("-") else "ascending"}"' in html


@pytest.mark.parametrize(
    ("query", "order"),
    [("?difficulty=easy", "13"), ("?tag=first", "0"), ("?group=sums", "13"), ("?solved=none", "23"),
     ("?solved=some&sort=-id", "10"), ("?q=shell+2", "2"), ("?solved=me", "0123"), ("?difficulty=none-such", "")],
)  # fmt: skip
def test_filters_choose_problems(query: str, order: str, client: Any, shop: Shop) -> None:
    if query == "?solved=me":
        assert ids(table(client, shop.release, query)) == [], "a stranger has solved none"
        client.force_login(shop.cast.owner)
        order = "01"
    assert ids(table(client, shop.release, query)) == [f"Shell/{n}" for n in order]


def test_counts_stand_beside_the_filters_and_links_keep_them(client: Any, shop: Shop) -> None:
    html = table(client, shop.release, "?difficulty=easy")
    assert "sums (2)" in html
    assert "strings (0)" in html
    assert "difficulty=easy&amp;sort=id" in html


def test_a_voided_problem_is_marked(client: Any, shop: Shop) -> None:
    void_problem(shop.cast.organiser, shop.problem_at(1), "Its test was wrong.")
    html = table(client, shop.release)
    assert '<tr class="voided">' in html
    assert "1 is voided" in html
    assert "Its test was wrong." in html


def test_hidden_results_are_no_part_of_a_strangers_table(client: Any, shop: Shop, far_future: Any) -> None:
    shop.release.hidden_until = far_future
    shop.release.save()
    assert "1/2" not in table(client, shop.release)
    page = reverse("problem", args=[shop.release.slug, shop.problem_at(1).slug])
    assert "samples pass" not in markup(client.get(page))
    client.force_login(shop.cast.owner)
    assert "1/1" in table(client, shop.release)


def test_the_stored_sums_are_those_of_the_ranking(shop: Shop) -> None:
    ProblemTrack.objects.update(n_entrants=9, best_speedup=None)
    factories.rank(shop.release, shop.track)
    row = ProblemTrack.objects.get(problem=shop.problem_at(1))
    assert (row.n_entrants, row.n_solved, row.n_samples, row.n_passed, row.best_speedup) == (2, 2, 4, 4, 3.0)


def test_a_row_is_one_sample_with_its_own_time_and_speedup(client: Any, shop: Shop) -> None:
    """Sample 1 is faster; sample 2 was measured beside a slower baseline, so that its speedup is larger."""
    entrant = factories.EntrantFactory(name="Two", slug="two", owner=shop.cast.owner)

    def verdict_of(evaluation: Any) -> Any:
        made = factories.report(speedup=4.0)  # 2.5 ms against 10 ms
        if evaluation.sample.index == 1:
            slow = [one.model_copy(update={"median_ms": one.median_ms * 2}) for one in made.measurements]
            slow[0] = slow[0].model_copy(update={"median_ms": 50.0})
            return made.model_copy(update={"measurements": slow})  # 5 ms against 50 ms
        return made

    factories.judged_submission(entrant, shop.release, shop.track, verdict_of)
    page = reverse("problem", args=[shop.release.slug, shop.problem_at(1).slug])
    rows = client.get(page).context["ranking"]
    assert [row["submission__entrant__slug"] for row in rows] == ["two", "alpha", "strangers-model"]
    assert (rows[0]["time_ms"], rows[0]["speedup"], rows[0]["sample_index"]) == (5.0, 10.0, 1)
    by_time = client.get(page + "?by=time").context["ranking"]
    assert (by_time[0]["time_ms"], by_time[0]["speedup"], by_time[0]["sample_index"]) == (2.5, 4.0, 0)
    assert 'aria-sort="ascending"' in markup(client.get(page + "?by=time"))


def test_the_page_says_what_part_of_the_samples_pass(client: Any, shop: Shop) -> None:
    page = reverse("problem", args=[shop.release.slug, shop.problem_at(0).slug])
    assert "Solved by 1 of 2 models; 1 of their 4 samples pass." in markup(client.get(page))


def test_the_distribution_of_runtimes_counts_every_timed_sample(client: Any, shop: Shop) -> None:
    problem = shop.problem_at(1)
    html = markup(client.get(reverse("problem", args=[shop.release.slug, problem.slug])))
    assert "Distribution of runtimes" in html
    assert "The times of 4 passing samples of 2 models" in html
    drawn = client.get(reverse("runtimes", args=[shop.release.slug, problem.slug])).json()
    assert sum(drawn["data"][0]["y"]) == 4
    first = markup(client.get(reverse("problem", args=[shop.release.slug, shop.problem_at(0).slug])))
    assert "Distribution of runtimes" not in first, "one sample is no distribution"


def test_rebuilding_finds_sums_that_differ(shop: Shop) -> None:
    assert rank.rebuild(check=True) == []
    ProblemTrack.objects.filter(problem=shop.problem_at(1)).update(n_solved=0)
    assert "problem sums differ" in " ".join(rank.rebuild(check=True))
