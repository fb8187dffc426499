"""Boards say which times a reader should doubt: unwitnessed passes, unchecked timed work, self-reported times."""

from collections.abc import Callable
from typing import Any

import pytest

from leaderboard.models import Entrant, Evaluation, Track
from problems.models import Release
from runners.wire.protocol import Clock, Report, Witness
from tests import factories
from tests.markup import markup
from tests.packs import problem

pytestmark = pytest.mark.django_db
TIMED = {"benchmark_command": "sh solution.sh"}
CUSTOM = {**TIMED, "timing_mode": {"type": "custom"}}


def released(*records: dict[str, Any]) -> tuple[Release, Track]:
    made = factories.release(len(records), problem=lambda n: records[n])
    return made, factories.offer(made)


def checked(task_id: str) -> dict[str, Any]:
    return problem(task_id, **TIMED, podium={"build_only": [], "work_checked": True})


def notices(client: Any, made: Release) -> tuple[str, dict[str, int]]:
    page = markup(client.get(f"/releases/{made.slug}/"))
    return page, client.get(f"/api/v1/releases/{made.slug}/board").json()["timed_work"]


def test_a_board_says_how_much_timed_work_nothing_checks(client: Any) -> None:
    made, _ = released(problem("a/1", **TIMED), checked("a/2"), problem("a/3"))
    page, counts = notices(client, made)
    assert "Timed work is unchecked in 1 of 2 timed problems" in page
    assert "A speedup over 3× there waits for an organiser." in page
    assert "self-reported" not in page
    assert counts == {"checked": 1, "unchecked": 1, "self_reported": 0}


def test_a_board_of_checked_work_says_nothing(client: Any) -> None:
    same = problem("a/1", benchmark_command="sh test/t.sh")
    made, _ = released(same, checked("a/2"), problem("a/3"))
    page, counts = notices(client, made)
    assert "Timed work is unchecked" not in page
    assert counts == {"checked": 2, "unchecked": 0, "self_reported": 0}


def self_reported(evaluation: Evaluation) -> Report:
    report = factories.report(speedup=1e6)
    times = [one.model_copy(update={"clock": Clock.SELF}) for one in report.measurements]
    return report.model_copy(update={"measurements": times})


def judged(made: Release, track: Track, entrant: Entrant, of: Callable[[Evaluation], Report]) -> Evaluation:
    submission = factories.judged_submission(entrant, made, track, of)
    return submission.evaluations.select_related("current_result").earliest("pk")


def test_a_self_reported_time_says_so_everywhere_and_never_ranks(client: Any, cast: factories.Cast) -> None:
    made, track = released(problem("a/1", **CUSTOM))
    one = judged(made, track, cast.entrant, self_reported)
    assert "Times of 1 of 1 timed problems are self-reported" in notices(client, made)[0]
    assert "These times are self-reported" in markup(client.get(one.get_absolute_url()))
    told = client.get(f"/api/v1/evaluations/{one.pk}").json()["result"]
    assert told["self_reported"] is True
    assert [pair["ranks"] for pair in told["measurements"]] == [False]
    (row,) = client.get(f"/api/v1/releases/{made.slug}/board").json()["standings"]
    assert (row.get("speedup"), row.get("correct_speedup")) == (None, None)


def test_a_time_by_the_nodes_clock_is_not_self_reported(client: Any, cast: factories.Cast) -> None:
    made, track = released(checked("a/1"))
    one = judged(made, track, cast.entrant, lambda _: factories.report())
    assert client.get(f"/api/v1/evaluations/{one.pk}").json()["result"]["self_reported"] is False
    assert "self-reported" not in markup(client.get(one.get_absolute_url()))


def test_the_column_of_unwitnessed_passes_stands_where_there_are_some(client: Any, cast: factories.Cast) -> None:
    made, track = released(problem("a/1"), problem("a/2"))
    judged(made, track, cast.strangers_entrant, lambda _: factories.report())
    assert "Unwitnessed" not in markup(client.get(f"/releases/{made.slug}/"))
    judged(made, track, cast.entrant, _half_unseen)
    rows = client.get(f"/api/v1/releases/{made.slug}/board").json()["standings"]
    assert {row["entrant"]: row["unwitnessed"] for row in rows} == {"alpha": 0.5, "strangers-model": 0.0}
    page = markup(client.get(f"/releases/{made.slug}/?sort=unwitnessed"))
    assert "2 of 4 passing samples" in page


def _measured_under(policy: str) -> Callable[[Evaluation], Report]:
    def of(_evaluation: Evaluation) -> Report:
        report = factories.report()
        return report.model_copy(update={"provenance": report.provenance.model_copy(update={"timing_policy": policy})})

    return of


def test_a_board_says_how_many_times_are_not_of_its_releases_policy(client: Any, cast: factories.Cast) -> None:
    made, track = released(checked("a/1"), checked("a/2"))
    assert made.timing_policy == "ranked"
    judged(made, track, cast.strangers_entrant, _measured_under("ranked"))
    assert "provisional" not in markup(client.get(f"/releases/{made.slug}/"))
    judged(made, track, cast.entrant, _measured_under("quick"))
    page = markup(client.get(f"/releases/{made.slug}/"))
    assert "Times of 4 passing samples are provisional" in page


def _half_unseen(evaluation: Evaluation) -> Report:
    first = evaluation.problem.task_id == "a/1"
    return factories.report(witness=Witness.SEEN if first else Witness.UNAVAILABLE)


def test_problems_say_whether_their_timed_work_is_checked(client: Any) -> None:
    made, _ = released(problem("a/1", **TIMED), checked("a/2"), problem("a/3", **CUSTOM), problem("a/4"))
    words = ["The timed work is not checked.", "The timed work is checked.", "The program prints its own time", ""]
    for one, expected in zip(made.problems.order_by("position"), words, strict=True):
        page = markup(client.get(f"/releases/{made.slug}/problems/{one.slug}/"))
        assert [said for said in words if said and said in page] == [expected] * bool(expected)


def test_promises_stand_on_the_releases_pages(client: Any) -> None:
    made, _ = released(problem("a/1", podium={"build_only": [], "harness": "separate"}))
    assert "timed by its test command" not in markup(client.get(f"/releases/{made.slug}/about/"))
    promising = factories.release(
        1, "test-2", problem=lambda _: problem("a/1", podium={"build_only": [], "harness": "separate"}),
        one_command=True, separate_harness=True,
    )  # fmt: skip
    page = markup(client.get(f"/releases/{promising.slug}/about/"))
    assert "Every timed problem is timed by its test command" in page
    assert "its harness runs in a process of its own" in page
    told = client.get(f"/api/v1/releases/{promising.slug}").json()
    assert (told["one_command"], told["separate_harness"]) == (True, True)
