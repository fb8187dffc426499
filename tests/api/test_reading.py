"""Releases, problems, boards, tracks, nodes and entrants as anybody reads them."""

from typing import Any

import pytest

from leaderboard.models import Entrant
from runners.wire.protocol import Verdict
from tests import factories
from tests.api import calls

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


def test_a_public_release_is_everybodys(cast: Any) -> None:
    made = factories.release(2)
    factories.offer(made)
    rows = calls.get("releases").json()["results"]
    assert [(row["slug"], row["n_problems"], row["tracks"]) for row in rows] == [(made.slug, 2, ["cpu-test"])]
    assert calls.get(f"releases/{made.slug}").json()["digest"] == made.digest


def test_addresses_answer_with_a_slash_at_their_end_too(cast: Any) -> None:
    made = factories.release(1)
    assert calls.get(f"releases/{made.slug}/").status_code == 200


def test_a_problem_shows_what_is_visible_and_names_what_is_held_out(cast: Any) -> None:
    made = factories.release(1)
    answer = calls.get(f"releases/{made.slug}/problems/shell-0")
    problem = answer.json()
    assert problem["statement"].startswith("# Task 0")
    assert [file["path"] for file in problem["context_files"]] == ["include/helper.h"]
    assert [file["path"] for file in problem["visible_test_files"]] == ["test/visible.sh"]
    assert [file["path"] for file in problem["starter_files"]] == ["solution.sh"]
    assert problem["held_out_paths"] == ["test/t.sh"]
    assert b"held-out words" not in answer.content
    assert b"reference words" not in answer.content


def test_an_organiser_reads_the_held_out_tests(cast: Any) -> None:
    made = factories.release(1)
    problem = calls.get(f"releases/{made.slug}/problems/shell-0", cast.organiser).json()
    assert len(problem["visible_test_files"]) == 2


def test_the_board_has_ranks_intervals_and_columns(cast: Any) -> None:
    made = factories.release(2)
    track = factories.offer(made)
    factories.judged_submission(cast.entrant, made, track)
    board = calls.get(f"releases/{made.slug}/board").json()
    (row,) = board["standings"]
    assert (board["track"], board["count"], board["primary_metric"]) == ("cpu-test", 1, "pass@1")
    assert (row["rank"], row["entrant"], row["pass@1"], row["solved"], row["problems"]) == (1, "alpha", 1.0, 2, 2)
    assert row["speedup"] == pytest.approx(2.0)
    assert {"speedup_low", "speedup_high", "pass@1_low", "pass@1_high"} <= row.keys()
    assert "pass@2" in {column["key"] for column in board["columns"]}


def test_a_board_on_an_unknown_track_is_refused_with_the_tracks(cast: Any) -> None:
    made = factories.release(1)
    factories.offer(made)
    answer = calls.get(f"releases/{made.slug}/board", track="gpu")
    assert (answer.status_code, answer.json()["code"]) == (400, "bad_query")
    assert "cpu-test" in answer.json()["message"]


@pytest.mark.parametrize("path", ["releases", "tracks", "entrants", "submissions", "nodes", "releases/{}/board",
                                  "releases/{}", "releases/{}/problems"])  # fmt: skip
def test_a_parameter_that_an_address_does_not_have_is_refused(cast: Any, path: str) -> None:
    made = factories.release(1)
    factories.offer(made)
    answer = calls.get(path.format(made.slug), utm_source="x")
    assert (answer.status_code, answer.json()["code"]) == (400, "bad_query")
    assert "'utm_source'" in answer.json()["message"]
    assert calls.get(path.format(made.slug)).status_code == 200


def test_an_unknown_state_of_submissions_is_refused(cast: Any) -> None:
    assert calls.get("submissions", state="nope").status_code == 400


def test_pages_are_bounded(cast: Any) -> None:
    made = factories.release(3)
    page = calls.get(f"releases/{made.slug}/problems", limit=2).json()
    assert (page["count"], len(page["results"])) == (3, 2)
    assert page["next"]
    assert calls.get(f"releases/{made.slug}/problems", limit=100_000).json()["next"] is None


def test_a_node_shows_its_hardware_but_not_its_host(cast: Any) -> None:
    node = factories.NodeFactory(slug="n1")
    node.capabilities["hostname"] = "secret-host"
    node.save()
    factories.grant(node, factories.TrackFactory())
    answer = calls.get("nodes")
    (row,) = answer.json()["results"]
    assert (row["slug"], row["is_online"], row["grants"]) == ("n1", True, ["cpu-test both"])
    assert b"secret-host" not in answer.content
    assert node.token_digest.encode() not in answer.content


def test_tracks_are_listed(cast: Any) -> None:
    factories.TrackFactory()
    assert [row["slug"] for row in calls.get("tracks").json()["results"]] == ["cpu-test"]


def test_a_person_makes_an_entrant_of_their_own(cast: Any) -> None:
    answer = calls.post("entrants", {"name": "My Model 7", "organisation": "Lab", "open_weights": True}, cast.owner)
    assert (answer.status_code, answer.json()["slug"]) == (201, "my-model-7")
    assert Entrant.objects.get(slug="my-model-7").owner == cast.owner
    mine = calls.get("entrants", cast.owner, mine=1).json()["results"]
    assert {row["slug"] for row in mine} == {"alpha", "my-model-7"}


@pytest.mark.parametrize("fields", [{"kind": "baseline"}, {"kind": "system"}, {"name": "Alpha"}, {"name": "!!!"}])
def test_an_entrant_that_may_not_be_made_is_refused(cast: Any, fields: dict[str, str]) -> None:
    assert calls.post("entrants", {"name": "X"} | fields, cast.owner).status_code == 400


def test_nobody_verifies_their_own_entrant(cast: Any) -> None:
    calls.post("entrants", {"name": "Sly", "is_verified": True}, cast.owner)
    assert not Entrant.objects.get(slug="sly").is_verified


def test_lists_cost_the_same_queries_however_long(cast: Any, django_assert_max_num_queries: Any) -> None:
    made = factories.release(3)
    track = factories.offer(made)
    for number in range(4):
        entrant = factories.EntrantFactory(owner=cast.owner)
        verdict = Verdict.PASSED if number % 2 else Verdict.TEST_FAILED
        factories.judged_submission(entrant, made, track, lambda _one, it=verdict: factories.report(it))
    for path in ("releases", "submissions", "entrants", "nodes", f"releases/{made.slug}/board"):
        with django_assert_max_num_queries(9):
            assert calls.get(path).status_code == 200


def test_entrants_of_a_board_are_compared_with_the_first(cast: Any) -> None:
    made = factories.board_of_two(cast)
    first, second = cast.entrant.slug, cast.strangers_entrant.slug
    found = calls.get(f"releases/{made.slug}/compare", entrant=[first, second]).json()
    assert [one["entrant"] for one in found["entrants"]] == [first, second]
    (pair,) = found["differences"]
    assert (pair["difference"], pair["problems"], pair["better"], pair["worse"]) == (-0.5, 4, 0, 2)
    assert pair["low"] <= -0.5 <= pair["high"]
    assert found["metric"] == "pass@1"
    ends = {"low": pair["low"], "high": pair["high"]}
    assert pair["ranked"] == {"kind": "difference", "value": -0.5, **ends, "problems": 4, "better": 0, "worse": 2}
    assert [(one["figure"], one["figure_low"] is None) for one in found["entrants"]] == [(1.0, False), (0.5, False)]
    assert found["figures"]["Shell/0"] == [1.0, 0.0]
    assert found["passed"]["Shell/0"] == [[2, 2], [0, 2]]
    assert found["groups"] == {"strings": [1.0, 0.5], "sums": [1.0, 0.5]}


@pytest.mark.parametrize(("slugs", "status"), [(["alpha"], 400), (["alpha", "nobody"], 404), ([], 400)])
def test_a_bad_comparison_says_what_is_wrong(slugs: list[str], status: int, cast: Any) -> None:
    made = factories.release(1)
    factories.judged_submission(cast.entrant, made, factories.offer(made))
    answer = calls.get(f"releases/{made.slug}/compare", entrant=slugs)
    assert answer.status_code == status
    assert "entrant" in answer.json()["message"]
