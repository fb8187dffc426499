"""Tokens and cost as entrants declare them: from the pack's metadata to the board, its exports, charts and pages."""

import csv
import io
from functools import partial
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from zeal import zeal_context

from leaderboard.actions.curation import curate
from leaderboard.actions.curation.carry import carry
from leaderboard.models import Entrant, Evaluation, ReleaseTrack, Standing, Submission, Track
from leaderboard.standings.rank import rank_touched, rebuild
from problems.actions.releases import import_release
from problems.models import Release
from runners.wire.protocol import Report, Verdict
from tests import factories, packs
from tests.api import calls
from tests.factories import Cast
from tests.markup import markup
from tests.spec.test_generation import ANY_JSON, KEYED, manifest

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]
DECLARED = ("tokens_per_sample", "usd_per_sample")


def declaring(cost: Any = None, tokens_in: Any = None, tokens_out: Any = None) -> dict[str, Any]:
    return {"usage": {"cost": cost, "prompt_tokens": tokens_in, "completion_tokens": tokens_out}}


GENERATIONS: dict[str, Any] = {
    "Dear": declaring(6.0, 3000, 600), "Cheap": declaring(0.03, 300, 6), "Free": declaring(0, 0, 0), "Silent": None,
    "Half told": declaring(None, 5, None),
}  # fmt: skip


def board_of(cast: Cast, generations: dict[str, Any] = GENERATIONS, n_samples: int = 2) -> tuple[Release, Track]:
    """An entrant for each, of which later ones fail more; 3 problems of 2 samples, so 6 samples each."""
    made = factories.release()
    track = factories.offer(made)
    for place, (name, generation) in enumerate(generations.items()):
        entrant = factories.EntrantFactory(name=name, slug=name.lower().replace(" ", "-"), owner=cast.stranger)
        stored = factories.submission(entrant, made, track, n_samples=n_samples, generation=generation)
        failing = set(stored.evaluations.order_by("pk").values_list("pk", flat=True)[:place])
        factories.judge(stored, partial(_report, failing))
    factories.rank(made, track)
    return made, track


def _report(failing: set[int], evaluation: Evaluation) -> Report:
    return factories.report(Verdict.TEST_FAILED if evaluation.pk in failing else Verdict.PASSED)


def rows_of(client: Any, made: Release, query: str = "") -> dict[str, dict[str, Any]]:
    found = client.get(f"/api/v1/releases/{made.slug}/board{query}").json()["standings"]
    return {row["model"]: row for row in found}


def text(client: Any, name: str, made: Release, query: str = "") -> str:
    page: str = markup(client.get(reverse(name, args=[made.slug]) + query))
    return page


# ---- upload --------------------------------------------------------------------------------------------------------


def pack(made: Release, generation: Any, n: int = 1) -> SimpleUploadedFile:
    lines = [packs.solution(one, f"exit 0 # {n}") for one in made.problems.values_list("task_id", flat=True)]
    file = packs.solution_pack(lines, made.datapack_release, generation=generation)
    return SimpleUploadedFile("mine-solutions.tar.gz", file.getvalue())


def test_form_and_api_store_what_the_pack_declares_alike(client: Any, cast: Cast) -> None:
    made = factories.release()
    track = factories.offer(made)
    client.force_login(cast.owner)
    fields = {"release": made.slug, "entrant": "alpha", "tracks": [track.slug], "counted": "on"}
    client.post(reverse("submit"), fields | {"file": pack(made, manifest())})
    answer = calls.upload(cast.owner, made, track, pack(made, manifest(), 2)).json()
    form, api = Submission.objects.order_by("pk")
    assert form.generation == api.generation == answer["generation"]
    assert form.generation["host"] == "api.example.org:8000"
    assert (form.tokens_per_sample, form.usd_per_sample) == pytest.approx((220 / 3, 0.00008))
    assert [answer[name] for name in DECLARED] == [form.tokens_per_sample, form.usd_per_sample]
    assert answer["notices"] == []


def test_what_is_left_out_is_said_and_the_pack_is_taken(client: Any, cast: Cast) -> None:
    made = factories.release()
    track = factories.offer(made)
    bad = {"model": ["x"], "usage": {"cost": "free"}, "api_key": "secret"}
    answer = calls.upload(cast.owner, made, track, pack(made, bad)).json()
    assert answer["notices"] == [
        "metadata.json: `generation.model` is left out: input should be a valid string.",
        "metadata.json: `generation.usage.cost` is left out: input should be a valid number.",
    ]
    assert [answer[name] for name in ("generation", *DECLARED)] == [None, None, None]
    client.force_login(cast.owner)
    fields = {"release": made.slug, "entrant": "alpha", "tracks": [track.slug], "counted": "on"}
    page = markup(client.post(reverse("submit"), fields | {"file": pack(made, bad, 2)}, follow=True))
    assert "`generation.usage.cost` is left out" in page


def test_sent_again_with_other_figures_the_first_declaration_stays(cast: Cast) -> None:
    made = factories.release()
    track = factories.offer(made)
    calls.upload(cast.owner, made, track, pack(made, declaring(1.5)))
    again = calls.upload(cast.owner, made, track, pack(made, declaring(0.3)))
    assert (again.status_code, again.json()["usd_per_sample"]) == (200, 0.5)


@pytest.fixture
def offered(cast: Cast, settings: Any) -> tuple[Release, Track]:
    settings.BOOTSTRAP_DRAWS = 50
    made = factories.release(1)
    return made, factories.offer(made)


@settings(max_examples=3, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(generations=st.lists(ANY_JSON | KEYED, min_size=6, max_size=6))
def test_no_json_under_generation_breaks_upload_board_or_pages(
    client: Any, cast: Cast, offered: tuple[Release, Track], generations: list[Any]
) -> None:
    made, track = offered
    stored = []
    for generation in generations:
        entrant = factories.EntrantFactory(owner=cast.owner)
        stored.append(factories.submission(entrant, made, track, generation=generation, n_samples=1))
        factories.judge(stored[-1])
    factories.rank(made, track)
    paths = [reverse(name, args=[made.slug]) for name in ("board", "board_csv", "board_json", "charts")]
    paths += [reverse("chart", args=[made.slug, "score-vs-cost"]), f"/api/v1/releases/{made.slug}/board"]
    paths += [page for one in stored for page in (one.get_absolute_url(), one.entrant.get_absolute_url())]
    for path in [*paths, "/api/v1/submissions"]:
        assert client.get(path).status_code == 200, (path, generations)


# ---- board ---------------------------------------------------------------------------------------------------------


def test_the_board_has_tokens_and_cost_per_sample_where_unknown_is_missing_and_zero_is_0(
    client: Any, cast: Cast
) -> None:
    made, _ = board_of(cast)
    rows = rows_of(client, made)
    assert {name: tuple(row[key] for key in DECLARED) for name, row in rows.items()} == {
        "Dear": (600.0, 1.0), "Cheap": (51.0, 0.005), "Free": (0.0, 0.0), "Silent": (None, None),
        "Half told": (None, None),
    }  # fmt: skip
    html = text(client, "board", made)
    for written in ("600", "51", "0"):
        assert f'title="Declared by the entrant.">{written}<' in html
    for written in ("1.00", "0.00500", "0"):
        assert f'title="Declared by the entrant.">{written}<' in html
    assert html.count('title="Not declared.">–<') == 4
    assert "Tokens and Cost: per sample, declared by the entrant, not checked by Podium." in html


def test_entrants_with_different_numbers_of_samples_compare(client: Any, cast: Cast) -> None:
    made, track = board_of(cast, {"Two": declaring(6.0)})
    entrant = factories.EntrantFactory(name="Four", slug="four", owner=cast.stranger)
    factories.judged_submission(entrant, made, track, n_samples=4, generation=declaring(12.0))
    assert {name: row["usd_per_sample"] for name, row in rows_of(client, made).items()} == {"Two": 1.0, "Four": 1.0}


@pytest.mark.parametrize(
    ("generations", "shown"),
    [
        ({"One": None, "Two": declaring()}, []),
        ({"One": None, "Two": declaring(0)}, ["usd_per_sample"]),
        ({"One": None, "Two": declaring(None, 1, 1)}, ["tokens_per_sample"]),
        ({"One": declaring(1), "Two": declaring(None, 1, 1)}, list(DECLARED)),
    ],
)
def test_a_column_is_shown_where_an_entrant_has_it(
    generations: dict[str, Any], shown: list[str], client: Any, cast: Cast
) -> None:
    made, _ = board_of(cast, generations)
    answer = client.get(f"/api/v1/releases/{made.slug}/board").json()
    assert [one["key"] for one in answer["columns"] if one["key"] in DECLARED] == shown
    exported = client.get(reverse("board_json", args=[made.slug])).json()["rows"]
    assert [key for key in exported[0] if key in DECLARED] == shown
    assert ("declared by the entrant" in text(client, "board", made)) is bool(shown)
    lines = list(csv.DictReader(io.StringIO(text(client, "board_csv", made))))
    for line, row in zip(lines, exported, strict=True):
        assert {key: line[key] for key in shown} == {key: "" if row[key] is None else str(row[key]) for key in shown}


def test_the_board_sorts_by_cost_cheapest_first_with_the_unknown_last(client: Any, cast: Cast) -> None:
    made, _ = board_of(cast)
    assert "sort=usd_per_sample" in text(client, "board", made)
    assert list(rows_of(client, made, "?sort=usd_per_sample")) == ["Free", "Cheap", "Dear", "Silent", "Half told"]
    assert list(rows_of(client, made, "?sort=-usd_per_sample"))[:3] == ["Dear", "Cheap", "Free"]
    html = text(client, "board", made, "?sort=usd_per_sample")
    assert html.index(">Free<") < html.index(">Cheap<") < html.index(">Dear<") < html.index(">Silent<")


def test_a_board_without_declarations_is_as_it_was(client: Any, cast: Cast) -> None:
    """Also a frozen one, ranked anew: submissions of earlier packs declare nothing."""
    made, _ = board_of(cast, {"One": None, "Two": None})
    curate.freeze(cast.organiser, made)
    ranked_at = ReleaseTrack.objects.get().ranked_at
    before = [text(client, name, made) for name in ("board_csv", "board_json")]
    stored = list(Standing.objects.order_by("pk").values())
    assert rebuild(check=True) == []
    rebuild()
    rank_touched()
    ReleaseTrack.objects.update(ranked_at=ranked_at)  # exports say when they were ranked
    assert [text(client, name, made) for name in ("board_csv", "board_json")] == before
    assert [{**one, "updated_at": None} for one in Standing.objects.order_by("pk").values()] == [
        {**one, "updated_at": None} for one in stored
    ]
    header = before[0].splitlines()[0]
    of_times = "median_ms,median_ms_low,median_ms_high,median_ms_problems"
    assert f",fast_1,gflops,gflops_problems,gflops_own,{of_times},samples,date," in header


def test_a_declaration_changes_no_rank_and_no_standing(client: Any, cast: Cast) -> None:
    made, _ = board_of(cast)
    declared = rows_of(client, made)
    Submission.objects.update(generation=None, tokens_per_sample=None, usd_per_sample=None)
    assert rebuild(check=True) == []
    silent = rows_of(client, made)
    assert silent == {name: {k: v for k, v in row.items() if k not in DECLARED} for name, row in declared.items()}


def test_the_next_revision_keeps_the_declaration(cast: Cast, client: Any) -> None:
    made, _ = board_of(cast, {"Dear": manifest()})
    lines = [factories.example_problem(n, prompt="Other words.") for n in range(2)]
    new = import_release(packs.problem_pack(lines, "test-1", ks=[1, 2])).release
    assert new.previous == made
    curate.publish(None, new, "drawn by a test")
    curate.make_public(None, new)
    factories.offer(new)
    carry(cast.organiser, new)
    old, carried = made.submissions.get(), new.submissions.get()
    for field in ("generation", *DECLARED):
        assert getattr(carried, field) == getattr(old, field) is not None


def _queries(client: Any, path: str) -> int:
    with CaptureQueriesContext(connection) as queries, zeal_context():
        assert client.get(path).status_code == 200
    return len(queries)


def test_more_entrants_that_declare_cost_no_more_queries(client: Any, cast: Cast) -> None:
    made, track = board_of(cast)
    entrant = Entrant.objects.get(slug="dear")
    paths = [reverse(name, args=[made.slug]) for name in ("board", "charts")]
    paths += [entrant.get_absolute_url(), "/api/v1/submissions"]
    few = [_queries(client, path) for path in paths]
    factories.standings(made, track, 150)
    for n in range(3):
        other = factories.release(name=f"more-{n}")
        factories.offer(other)
        factories.judged_submission(entrant, other, track, generation=manifest())
    Submission.objects.update(generation=manifest(), usd_per_sample=0.5, tokens_per_sample=100.0)
    assert [_queries(client, path) for path in paths] == few
    assert max(few) <= 16


# ---- chart ---------------------------------------------------------------------------------------------------------


def test_the_chart_of_score_against_cost_has_those_who_paid(client: Any, cast: Cast) -> None:
    made, _ = board_of(cast)
    page = text(client, "charts", made)
    assert "Score against cost" in page
    line, *points = client.get(reverse("chart", args=[made.slug, "score-vs-cost"])).json()["data"]
    assert [(one["name"], one["x"]) for one in points] == [("Dear", [1.0]), ("Cheap", [0.005])]
    assert line["x"][:3] == [0.005, 1.0, 1.0]


@pytest.mark.parametrize("generation", [None, declaring(None, 5, 5), declaring(0)])
def test_a_board_without_a_cost_has_no_such_chart(generation: Any, client: Any, cast: Cast) -> None:
    made, _ = board_of(cast, {"One": generation})
    assert "score-vs-cost" not in text(client, "charts", made)
    assert client.get(reverse("chart", args=[made.slug, "score-vs-cost"])).json()["data"] == []


# ---- pages ---------------------------------------------------------------------------------------------------------


def test_submission_and_entrant_pages_show_what_is_declared_and_that_it_is(client: Any, cast: Cast) -> None:
    hostile = manifest() | {"model": "<script>alert(1)</script>", "versions": {"<b>": "1"}, "token": "secret"}
    made, _ = board_of(cast, {"Dear": hostile})
    stored = made.submissions.get()
    for path in (stored.get_absolute_url(), stored.entrant.get_absolute_url()):
        page = markup(client.get(path))
        assert "Declared by the entrant" in page
        for words in (
            "&lt;script&gt;alert(1)&lt;/script&gt; (the endpoint says served)", "api.example.org:8000",
            "temperature 0.5, seed 7, thinking off", "200 in prompts, 20 in replies", "US$ 0.000240",
            "2026-11-23 12:00 to 2026-11-23 12:01 UTC; median 1.5 s a reply", "&lt;b&gt; 1",
        ):  # fmt: skip
            assert words in page, words
        assert "<script>alert" not in page
        assert "secret" not in page


def test_where_nothing_is_declared_no_page_speaks_of_it(client: Any, cast: Cast) -> None:
    made, _ = board_of(cast, {"Silent": None})
    stored = made.submissions.get()
    for path in (stored.get_absolute_url(), stored.entrant.get_absolute_url()):
        assert "Declared by the entrant" not in markup(client.get(path))
