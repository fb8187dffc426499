"""Boards of releases with weights and questions: their columns, chart, exports and explanations, and recalibration."""

import csv
import io
from typing import Any

import pytest
from django.db import DatabaseError, connection, transaction
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from leaderboard.actions.curation import curate
from leaderboard.actions.curation.carry import carry
from leaderboard.actions.curation.tracks import no_hardware, offer
from leaderboard.errors import Refused
from leaderboard.models import Entrant, Standing, Track
from leaderboard.models.boards.estimates import figure_of
from leaderboard.standings.rank import rank_touched, rebuild
from problems.actions.releases import import_release
from problems.models import Release
from tests import factories, mixed, packs
from tests.estimates import estimates
from tests.markup import markup

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]
SOLVERS: dict[str, mixed.Solves] = {
    "Alpha": lambda problem: problem.kind == "command",
    "Beta": lambda problem: problem.group != "ch3",
    "Gamma": lambda problem: problem.task_id in ("code/1", "code/2", "ask/3"),
}


def board_of(made: Release, cast: factories.Cast, solvers: dict[str, mixed.Solves] = SOLVERS) -> Track:
    """Every solver has submitted and is ranked."""
    track = factories.offer(made)
    for name, solves in solvers.items():
        entrant, _ = Entrant.objects.get_or_create(slug=name.lower(), defaults={"name": name, "owner": cast.stranger})
        mixed.submission(entrant, made, track, solves)
    return track


def text(client: Any, name: str, made: Release, query: str = "") -> str:
    return markup(client.get(reverse(name, args=[made.slug]) + query))


def figures(made: Release, *names: str) -> dict[str, list[float | None]]:
    """Figures by entrant, rounded."""
    rows = Standing.objects.filter(release=made).values_list("entrant__name", "estimates")
    triples = {entrant: [figure_of(known, name) for name in names] for entrant, known in rows}
    return {
        entrant: [None if one is None else round(one, 4) for one, *_ in found] for entrant, found in triples.items()
    }


def test_coding_problems_and_questions_are_scored_apart(cast: factories.Cast) -> None:
    made = mixed.release()
    board_of(made, cast)
    # ch2 weighs 0.5 and each of the two of ch3 1.25: 3 in all, a mean of 1
    assert figures(made, "pass@1", "coding", "weighted", "questions") == {
        "Alpha": [0.5, 1.0, 1.0, 0.0],
        "Beta": [0.5, 0.3333, 0.1667, 0.6667],
        "Gamma": [0.5, 0.6667, 0.5833, 0.3333],
    }


@pytest.mark.parametrize(
    ("metric", "best"), [("coding", "Alpha"), ("weighted", "Alpha"), ("questions", "Beta"), ("pass@1", None)]
)
def test_a_release_ranks_by_any_of_them(metric: str, best: str | None, cast: factories.Cast) -> None:
    made = mixed.release(primary_metric=metric)
    board_of(made, cast)
    first = Standing.objects.filter(rank=1).values_list("entrant__name", flat=True)
    assert sorted(first) == ([best] if best else ["Alpha", "Beta", "Gamma"])


def test_the_board_has_a_column_for_each_with_its_interval(client: Any, cast: factories.Cast) -> None:
    made = mixed.release()
    board_of(made, cast)
    html = text(client, "board", made)
    for title in ("Coding (%)", "Coding weighted (%)", "Questions (%)"):
        assert f">{title}&nbsp;" in html
    assert html.count('title="95 % interval ') >= 9
    assert reverse("release_about", args=[made.slug]) + "#weights" in html
    assert "How the weights of the groups are made" in html


@pytest.mark.parametrize(
    ("problems", "weights", "columns"),
    [
        (mixed.EACH_KIND, mixed.WEIGHTS, ["coding", "weighted", "questions"]),
        (mixed.EACH_KIND, {}, ["coding", "questions"]),
        (mixed.EACH_KIND[:3], mixed.WEIGHTS, ["coding", "weighted"]),
        (mixed.EACH_KIND[:3], {}, []),
        (mixed.EACH_KIND[3:], {}, ["questions"]),
    ],
)
def test_columns_are_shown_where_they_say_something(
    problems: list[dict[str, Any]], weights: dict[str, float], columns: list[str], client: Any, cast: factories.Cast
) -> None:
    made = mixed.release(problems, weights)
    board_of(made, cast, {"Gamma": SOLVERS["Gamma"]})
    of_kinds = {"coding", "weighted", "questions"}
    answer = client.get(f"/api/v1/releases/{made.slug}/board").json()
    assert [one["key"] for one in answer["columns"] if one["key"] in of_kinds] == columns
    (exported,) = client.get(reverse("board_json", args=[made.slug])).json()["rows"]
    assert [key for key in exported if key in of_kinds] == columns
    (line,) = csv.DictReader(io.StringIO(text(client, "board_csv", made)))
    assert {key: float(line[key]) for key in columns} == {key: exported[key] for key in columns}
    assert {f"{key}_low" for key in columns} <= line.keys()


def test_on_the_track_without_hardware_a_board_has_its_questions_alone(client: Any, cast: factories.Cast) -> None:
    made = mixed.release()
    track = no_hardware()
    offer(None, made, track)
    mixed.submission(cast.entrant, made, track, SOLVERS["Beta"])
    answer = client.get(f"/api/v1/releases/{made.slug}/board").json()
    keys = [one["key"] for one in answer["columns"]]
    assert keys == ["pass@1", "questions", "solved", "samples", "date"]
    assert answer["standings"][0]["questions"] == pytest.approx(2 / 3)


def test_every_group_may_have_a_column_of_all_its_kinds(client: Any, cast: factories.Cast) -> None:
    made = mixed.release()
    board_of(made, cast)
    rows = client.get(f"/api/v1/releases/{made.slug}/board?group=*").json()["standings"]
    shares = {row["entrant"]: [round(row[f"group:{group}"], 4) for group in ("ch11", "ch2", "ch3")] for row in rows}
    assert shares == {"alpha": [0.0, 0.5, 0.6667], "beta": [1.0, 1.0, 0.0], "gamma": [1.0, 0.5, 0.3333]}
    assert ">ch11 (%)&nbsp;" in text(client, "board", made, "?group=*")


def test_the_chart_of_raw_and_weighted_scores_stands_among_the_charts(client: Any, cast: factories.Cast) -> None:
    made = mixed.release()
    board_of(made, cast)
    html = text(client, "charts", made)
    assert "Raw against weighted score" in html
    _, *points = client.get(reverse("chart", args=[made.slug, "raw-vs-weighted"])).json()["data"]
    found = {one["name"]: (round(one["x"][0], 4), round(one["y"][0], 4)) for one in points}
    assert found == {"Alpha": (1.0, 1.0), "Beta": (0.3333, 0.1667), "Gamma": (0.6667, 0.5833)}


def test_the_about_tab_has_the_weights_and_where_they_come_from(client: Any, cast: factories.Cast) -> None:
    note = "Calibrated on 2026-11-23 with epsilon 0.05 from a.jsonl (sha256 0123456789abcdef)."
    made = mixed.release(weights={"ch2": 1, "ch3": 2.5}, weights_note=note)
    html = text(client, "release_about", made)
    assert note in html
    assert '<td class="num">0.500000</td>' in html
    assert '<td class="num">1.250000</td>' in html
    assert client.get(f"/api/v1/releases/{made.slug}").json()["weights_note"] == note
    assert "Weight of each" not in text(client, "release_about", mixed.release(weights={}))


def test_the_list_of_problems_tells_and_filters_kinds(client: Any, cast: factories.Cast) -> None:
    made = mixed.release()
    factories.offer(made)
    html = text(client, "problems", made)
    assert html.count('<td class="one-line">Choice</td>') == html.count('<td class="one-line">Command</td>') == 3
    chosen = text(client, "problems", made, "?kind=choice")
    assert "ask/1" in chosen
    assert "code/1" not in chosen
    assert ">Kind<" not in text(client, "problems", mixed.release(mixed.EACH_KIND[:2]))


def _queries(client: Any, path: str) -> int:
    with CaptureQueriesContext(connection) as queries:
        assert client.get(path).status_code == 200
    return len(queries)


def test_more_groups_and_entrants_cost_no_more_queries(client: Any, cast: factories.Cast) -> None:
    made = mixed.release()
    track = board_of(made, cast)
    paths = [reverse("board", args=[made.slug]) + "?group=*", reverse("charts", args=[made.slug])]
    factories.standings(made, track, 5, prefix="few")
    Standing.objects.update(estimates=estimates({"coding": 0.5, "weighted": 0.4, "questions": 0.3}))
    few = [_queries(client, path) for path in paths]
    factories.standings(made, track, 150)
    Standing.objects.update(estimates=estimates({"coding": 0.5, "weighted": 0.4, "questions": 0.3}))
    assert [_queries(client, path) for path in paths] == few
    assert few[0] <= 12
    assert few[1] <= 16


# ---- recalibration -------------------------------------------------------------------------------------------------


def recalibrated(weights: dict[str, float]) -> Release:
    pack = packs.problem_pack(mixed.EACH_KIND, ks=[1], title="Chapters", weights=weights, weights_note="Anew.")
    report = import_release(pack)
    assert report.lines[-1:] == ["The weights of groups differ from those of test-1."]
    return report.release


def test_a_recalibration_is_a_new_revision_and_changes_no_old_board(client: Any, cast: factories.Cast) -> None:
    old = mixed.release()
    track = board_of(old, cast)
    before = list(Standing.objects.filter(release=old).order_by("pk").values())
    page = text(client, "board_json", old)
    new = recalibrated({"ch2": 1.5, "ch3": 0.75})
    assert (new.slug, new.revision, new.previous, new.digest) == ("test-1-r2", 2, old, old.digest)
    curate.publish(None, new, "drawn by a test")
    curate.make_public(None, new)
    assert factories.offer(new) == track
    carry(cast.organiser, new)
    assert {one.state for one in new.submissions.all()} == {"done"}, "every result is reused"
    rank_touched()
    assert figures(new, "coding", "weighted")["Beta"] == [0.3333, 0.5]
    assert list(Standing.objects.filter(release=old).order_by("pk").values()) == before
    assert text(client, "board_json", old) == page
    assert [line for line in rebuild(check=True) if old.slug + " " in line] == []


def test_the_same_weights_again_are_the_same_release(cast: factories.Cast) -> None:
    old = mixed.release()
    pack = packs.problem_pack(mixed.EACH_KIND, ks=[1], title="Chapters", weights=mixed.WEIGHTS, weights_note="Anew.")
    assert import_release(pack).release == old
    new = recalibrated({"ch2": 1.5, "ch3": 0.75})
    assert import_release(pack).release == old, "also after a recalibration"
    assert Release.objects.count() == new.revision == 2


def test_published_weights_are_neither_changed_nor_corrected(cast: factories.Cast) -> None:
    made = mixed.release()
    factories.offer(made)
    with pytest.raises(DatabaseError), transaction.atomic():
        Release.objects.filter(pk=made.pk).update(weights={"ch2": 1.0, "ch3": 1.0})
    with pytest.raises(DatabaseError), transaction.atomic():
        Release.objects.filter(pk=made.pk).update(weights_note="Other words.")
    values = {name: getattr(made, name) for name in ("primary_metric", "timing_policy", "ks", "weights_note")}
    with pytest.raises(Refused, match="nothing to correct"):
        curate.correct_ranking(None, made, values | {"weights": {"ch2": 1.0, "ch3": 1.0}}, "A recalibration.")


@pytest.mark.parametrize(
    ("problems", "weights", "metric", "words"),
    [
        (mixed.EACH_KIND, {"ch2": 1.0}, "pass@1", "no weight for the groups ch3"),
        (mixed.EACH_KIND, mixed.WEIGHTS | {"ch11": 1.0}, "weighted", "a weight, but no coding problem, for"),
        (mixed.EACH_KIND[3:], {}, "coding", "it needs command or function problems"),
        (mixed.EACH_KIND[3:], {}, "weighted", "it needs command or function problems"),
        (mixed.EACH_KIND[:3], {}, "questions", "it needs choice or short-answer problems"),
    ],
)
def test_a_release_whose_kinds_and_weights_do_not_fit_is_not_published(
    problems: list[dict[str, Any]], weights: dict[str, float], metric: str, words: str
) -> None:
    made = import_release(packs.problem_pack(problems, weights=weights, primary_metric=metric)).release
    with pytest.raises(Refused, match=words):
        curate.publish(None, made, "drawn by a test")
