"""Questions on the site: settled without a node, once for each track, however often and however late it is asked."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from leaderboard import blobs
from leaderboard.actions.intake import try_solution
from leaderboard.actions.submissions import cancel
from leaderboard.errors import Refused
from leaderboard.intake.catalogue import catalogue_of
from leaderboard.models import Evaluation, ReleaseTrack, Result, Standing, Track
from leaderboard.settle.questions import settle_questions
from leaderboard.standings.rank import rank_touched, rebuild
from problems.formats.submission import single_solution
from problems.models import Release
from problems.spec.question import patterns
from runners.fleet.models import Job
from runners.fleet.queue.fit import why_not
from runners.wire.protocol import Capabilities, Stage
from tests import factories, packs
from tests.factories import Cast
from tests.question_records import choice, short
from tests.question_site import release, reply, submitted

RIGHT, WRONG = reply("qa-1-warps", "Eight.\nFinal: B"), reply("qa-1-warps", "Final: A")
BYTES = reply("qa-1-bytes", "Final: 4,096 bytes")


@pytest.fixture
def made(db: Any) -> Release:
    return release()


@pytest.fixture
def track(made: Release) -> Track:
    return made.on_tracks.get().track


def verdicts() -> list[str]:
    return list(Evaluation.objects.order_by("pk").values_list("current_result__verdict", flat=True))


def test_a_release_of_questions_alone_is_offered_without_hardware(made: Release, track: Track) -> None:
    assert (track.slug, track.device) == ("no-hardware", "none")
    assert why_not(Capabilities(cpu_model="any"), track, Stage.BOTH) == "the site settles its problems itself"
    release(choice("qa-2-x"), name="questions-2")
    assert Track.objects.count() == 1


def test_a_release_with_other_problems_is_offered_nowhere_by_itself(db: Any) -> None:
    made = release(choice(), packs.problem("a/1"), name="mixed-1")
    assert not ReleaseTrack.objects.filter(release=made).exists()


def test_replies_are_settled_and_ranked_without_a_job(cast: Cast, made: Release, track: Track) -> None:
    own = submitted(cast.entrant, made, track, RIGHT, BYTES)
    other = submitted(cast.strangers_entrant, made, track, WRONG, BYTES)
    assert not Job.objects.exists()
    assert settle_questions() == 4
    assert verdicts() == ["passed", "passed", "wrong_answer", "passed"]
    own.refresh_from_db()
    assert own.state == "done"
    assert rank_touched() == 1
    ranks = dict(Standing.objects.values_list("entrant__slug", "rank"))
    assert ranks == {own.entrant.slug: 1, other.entrant.slug: 2}
    assert Standing.objects.get(rank=1).primary_value == 1.0
    assert rebuild(check=True) == []


def test_settling_again_changes_nothing(cast: Cast, made: Release, track: Track) -> None:
    submitted(cast.entrant, made, track, RIGHT)
    assert settle_questions() == 1
    assert settle_questions() == 0
    assert Result.objects.count() == 1


def test_every_track_of_a_submission_gets_its_result(cast: Cast, track: Track) -> None:
    made = release(choice(), packs.problem("a/1"), name="mixed-1")
    tracks = [factories.offer(made, slug) for slug in ("cpu-a", "cpu-b")]
    for one in tracks:
        submitted(cast.entrant, made, one, RIGHT, packs.solution("a/1", "exit 0"))
    assert settle_questions() == 2
    assert Job.objects.count() == 2
    settled = Evaluation.objects.filter(problem__kind="choice").values_list("track__slug", "current_result__verdict")
    assert set(settled) == {("cpu-a", "passed"), ("cpu-b", "passed")}
    assert set(made.submissions.values_list("state", flat=True)) == {"accepted"}


def test_other_problems_are_skipped_on_the_track_without_hardware(cast: Cast, track: Track) -> None:
    made = release(choice(), packs.problem("a/1"), name="mixed-1")
    factories.offer(made, track.slug)
    submitted(cast.entrant, made, track, RIGHT, packs.solution("a/1", "exit 0"))
    settle_questions()
    assert sorted(verdicts()) == ["passed", "skipped"]
    assert not Job.objects.exists()


def test_a_cancelled_submission_is_not_settled(cast: Cast, made: Release, track: Track) -> None:
    own = submitted(cast.entrant, made, track, RIGHT)
    cancel.cancel(cast.owner, own, "no longer wanted")
    assert settle_questions() == 0
    assert verdicts() == [None]


def test_a_lost_reply_is_the_sites_fault_and_not_a_wrong_answer(cast: Cast, made: Release, track: Track) -> None:
    own = submitted(cast.entrant, made, track, RIGHT)
    store = blobs.store()
    assert isinstance(store, blobs.FolderBlobs)
    for path in store.root.rglob(own.samples.get().solution_sha256):
        path.unlink()
    settle_questions()
    assert verdicts() == ["platform_error"]


def test_an_evaluation_that_another_worker_settled_meanwhile_keeps_one_result(
    cast: Cast, made: Release, track: Track, monkeypatch: pytest.MonkeyPatch
) -> None:
    submitted(cast.entrant, made, track, RIGHT)
    from leaderboard.settle import questions

    store = questions._store

    def overtaken(*work: Any) -> int:
        monkeypatch.setattr(questions, "_store", store)
        assert settle_questions() == 1
        return store(*work)

    monkeypatch.setattr(questions, "_store", overtaken)
    assert settle_questions() == 0
    assert Result.objects.count() == 1


def test_a_submission_that_lacks_questions_has_them_failed(cast: Cast, made: Release, track: Track) -> None:
    submitted(cast.entrant, made, track, RIGHT)
    settle_questions()
    rank_touched()
    assert Standing.objects.get().primary_value == 0.5


def test_a_question_cannot_be_tried(cast: Cast, made: Release, track: Track) -> None:
    problem = made.problems.get(kind="choice")
    draft = single_solution(problem.task_id, {"answer.txt": "Final: B"}, catalogue_of(made))
    with pytest.raises(Refused, match="is a question: there is nothing to run"):
        try_solution.try_solution(cast.owner, problem, track, draft.samples[0])


def test_a_reply_that_is_no_answer_file_is_invalid(cast: Cast, made: Release, track: Track) -> None:
    submitted(cast.entrant, made, track, packs.solution("qa-1-warps", "Final: B", "reply.md"))
    assert settle_questions() == 0
    assert verdicts() == ["invalid"]


def _queries(entrant: Any, n: int) -> int:
    made = release(*[short(f"qa-1-{place}", answer=str(place)) for place in range(n)], name=f"of-{n}")
    lines = [reply(f"qa-1-{place}", f"Final: {place}") for place in range(n)]
    submitted(entrant, made, made.on_tracks.get().track, *lines)
    with CaptureQueriesContext(connection) as queries:
        assert settle_questions() == n
    return len(queries)


def test_many_replies_do_not_cost_a_query_each(cast: Cast, db: Any) -> None:
    few = _queries(cast.entrant, 12)
    assert _queries(cast.entrant, 120) <= few + 120 / 20, "SQLite inserts some tens of rows in one statement"


def test_a_pattern_that_runs_out_of_time_is_the_platforms_error(
    cast: Cast, db: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = release(short("qa-1-slow", final_answer_patterns=[r"bytes: (\d+)"]), name="slow-1")
    submitted(cast.entrant, made, made.on_tracks.get().track, reply("qa-1-slow", "bytes: 4096"))
    limits: list[float] = []

    def too_slow(pattern: str, text: str, *_: Any, timeout: float, **__: Any) -> list[Any]:  # as on a machine too busy
        if "bytes:" not in text:
            return []
        limits.append(timeout)
        raise TimeoutError

    monkeypatch.setattr(patterns.regex, "finditer", too_slow)
    assert settle_questions() == 1
    assert limits == [0.25, 2.0]
    assert verdicts() == ["platform_error"]
    assert "did not finish within 2.0 s" in Result.objects.get().reason


def test_a_result_keeps_what_its_reply_was_read_as(cast: Cast, made: Release, track: Track) -> None:
    submitted(cast.entrant, made, track, RIGHT, BYTES)
    settle_questions()
    fields = [case.fields[0] for result in Result.objects.order_by("pk") for case in result.cases.all()]
    assert [(one["value"], one["audience"]) for one in fields] == [("B", "team"), ("4,096 bytes", "team")]
