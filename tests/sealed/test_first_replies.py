"""An entrant's first reply to a sealed question is the one that counts: others tell nothing and gain nothing."""

import json
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from leaderboard.accounts.quotas import check_tries
from leaderboard.actions.curation.carry import carry
from leaderboard.actions.curation.decide import retract
from leaderboard.actions.submissions.cancel import cancel
from leaderboard.actions.submissions.choose import choose, offered_tracks
from leaderboard.errors import Refused, TooMuch
from leaderboard.imports.import_results import ImportTarget, import_results
from leaderboard.intake.catalogue import catalogue_of
from leaderboard.models import AuditEntry, Evaluation, Standing, Submission, Track
from leaderboard.settle.questions import settle_questions
from leaderboard.standings import rank as ranking
from leaderboard.standings.rank import rank_touched
from problems.formats.errors import PackRefused
from problems.formats.submission import read_submission
from problems.models import Release
from tests import factories, mixed, packs, question_site
from tests.factories import Cast
from tests.graded import compute_evals_row, write
from tests.sealed.site import ASKED, in_a_month, reveal, sealed_release, sent

pytestmark = pytest.mark.django_db
LETTERS = "ABCA"
"""What an oracle is asked: every choice of the questions, whose answer is B."""


@pytest.fixture
def made() -> Release:
    return sealed_release()


@pytest.fixture
def track(made: Release) -> Track:
    return factories.offer(made)


def _done(stored: Submission) -> Submission:
    settle_questions()
    factories.judge(stored)
    rank_touched()
    stored.refresh_from_db()
    return stored


def _questions_right(stored: Submission) -> int:
    return Evaluation.objects.filter(
        submission=stored, problem__kind="choice", current_result__verdict="passed"
    ).count()  # fmt: skip


def _row(made: Release) -> Standing:
    rank_touched()
    return Standing.objects.get(release=made)


def _told(cast: Cast, stored: Submission) -> list[dict[str, Any]]:
    """The API's answer to the owner on the submission's questions."""
    client = Client(headers={"Authorization": f"Bearer {factories.token(cast.owner)}"})
    answer = client.get(f"/api/v1/submissions/{stored.pk}/results.jsonl")
    rows = [json.loads(line) for line in b"".join(answer).splitlines()]
    return [row for row in rows if row["task_id"].startswith("ask/")]


def test_four_submissions_tell_no_answer_and_a_fifth_gains_nothing(cast: Cast, made: Release, track: Track) -> None:
    known: dict[str, str] = {}
    for n, letter in enumerate(LETTERS):
        stored = _done(sent(cast.entrant, made, track, letter, f"exit 0 # {n}"))
        assert stored.state == "done"
        told = _told(cast, stored)
        assert [row["task_id"] for row in told] == ["ask/1", "ask/2", "ask/3"]
        known |= {row["task_id"]: letter for row in told if row["passed"]}
        assert all("verdict" not in row and row["passed"] is None for row in told)
    assert known == {}
    last = _done(sent(cast.entrant, made, track, "B", "exit 0 # last"))
    reveal(made)
    assert [row["passed"] for row in _told(cast, last)] == [False] * 3  # the first submission's replies: A
    assert (_row(made).submission, _row(made).figure("questions")[0]) == (last, 0.0)


def test_the_first_reply_counts_though_its_submission_was_cancelled_at_once(
    cast: Cast, made: Release, track: Track
) -> None:
    first = sent(cast.entrant, made, track, "A")
    cancel(cast.owner, first)
    second = _done(sent(cast.entrant, made, track, "B"))
    assert _questions_right(second) == 0
    assert {one.first_sent_id for one in second.samples.filter(problem__kind="choice")} == {first.pk}
    assert {one.first_sent_id for one in second.samples.filter(problem__kind="command")} == {None}


def test_the_first_reply_counts_though_its_submission_was_retracted(cast: Cast, made: Release, track: Track) -> None:
    retract(cast.organiser, _done(sent(cast.entrant, made, track, "B")), "By mistake.")
    assert _questions_right(_done(sent(cast.entrant, made, track, "A", "exit 0 # again"))) == 3


def test_a_reply_that_could_not_be_read_counts(cast: Cast, made: Release, track: Track) -> None:
    whole = [packs.solution(f"code/{n}", "exit 0") for n in (1, 2, 3)]
    broken = [packs.solution(f"ask/{n}", "Final: B", "elsewhere.txt") for n in (1, 2, 3)]
    first = _done(question_site.submitted(cast.entrant, made, track, *whole, *broken))
    assert first.samples.filter(problem__kind="choice").exclude(invalid_reason="").count() == 3
    second = _done(sent(cast.entrant, made, track, "B"))
    assert _questions_right(second) == 0


def test_a_question_left_out_first_is_open_and_one_left_out_later_keeps_its_reply(
    cast: Cast, made: Release, track: Track
) -> None:
    code = [packs.solution(f"code/{n}", "exit 0") for n in (1, 2, 3)]
    _done(question_site.submitted(cast.entrant, made, track, *code, question_site.reply("ask/1", "Final: B")))
    later = [question_site.reply(f"ask/{n}", "Final: B") for n in (2, 3)]
    assert _questions_right(_done(question_site.submitted(cast.entrant, made, track, *code, *later))) == 3


def test_a_submission_that_does_not_ask_to_count_uses_no_reply_up_and_never_ranks(
    cast: Cast, made: Release, track: Track
) -> None:
    lines = [question_site.reply(f"ask/{n}", "Final: B") for n in (1, 2, 3)]
    draft = read_submission(packs.solution_pack(lines, made.datapack_release), "x.tar.gz", catalogue_of(made))
    from leaderboard.actions.intake.submit import submit
    from leaderboard.rows.submissions import SubmissionMetadata

    aside = submit(cast.owner, SubmissionMetadata(cast.entrant, made, [track], asks_to_count=False), draft).submission
    counted = _done(sent(cast.entrant, made, track, "A"))
    assert (_questions_right(aside), _questions_right(counted)) == (3, 0)
    reveal(made)
    rank_touched()
    page = Client().get(made.problems.get(task_id="ask/1").get_absolute_url()).content.decode()
    assert "Alpha" not in page  # its ranking has nobody: the reply that passed is of no submission that asks to count


def test_replies_after_revealing_never_rank(cast: Cast, made: Release, track: Track) -> None:
    reveal(made)
    late = _done(sent(cast.entrant, made, track, "B"))
    assert _questions_right(late) == 0
    assert "sent after the questions were revealed" in late.samples.filter(problem__kind="choice")[0].invalid_reason
    assert (_row(made).figure("questions")[0], _row(made).figure("coding")[0]) == (0.0, 1.0)
    assert Submission.objects.get().state == "done"


def test_other_entrants_and_other_questions_have_first_replies_of_their_own(
    cast: Cast, made: Release, track: Track
) -> None:
    _done(sent(cast.entrant, made, track, "A"))
    assert _questions_right(_done(sent(cast.strangers_entrant, made, track, "B"))) == 3


def test_the_next_revision_counts_the_first_reply_where_the_question_is_graded_the_same(
    cast: Cast, made: Release, track: Track
) -> None:
    _done(sent(cast.entrant, made, track, "A"))
    other = [question_site.choice("ask/3", group="ch11", answer="C")]
    second = mixed.release([*ASKED[:5], *other], policy="", reveals_at=in_a_month())
    assert (second.previous, second.question_policy) == (made, "sealed")
    factories.offer(second)
    [carried] = carry(cast.organiser, second)
    settle_questions()
    assert _questions_right(carried) == 0
    again = _done(sent(cast.entrant, second, track, "B"))
    right = Evaluation.objects.filter(submission=again, current_result__verdict="passed", problem__kind="choice")
    assert not right.exists()  # the carried reply to the changed question is its first one


def test_a_sealed_question_takes_one_sample_and_code_more(cast: Cast, made: Release, track: Track) -> None:
    code = [packs.solution(f"code/{n}", f"exit 0 # {m}") for n in (1, 2, 3) for m in range(3)]
    replies = [question_site.reply(f"ask/{n}", "Final: B") for n in (1, 2, 3)]
    with pytest.raises(PackRefused, match="ask/2 has more than 1 sample, the most that this release takes of it"):
        question_site.submitted(cast.entrant, made, track, *code, *replies, question_site.reply("ask/2", "Final: C"))
    _done(question_site.submitted(cast.entrant, made, track, *code, *replies))
    reveal(made)
    assert (_row(made).figure("questions")[0], _row(made).n_samples) == (1.0, 12)  # no reply is missing


def test_until_it_reveals_the_board_counts_code_alone(cast: Cast, made: Release, track: Track) -> None:
    _done(sent(cast.entrant, made, track))
    row = _row(made)
    assert (row.n_problems, row.n_samples, row.rank) == (3, 3, 1)
    assert (row.figure("questions")[0], row.figure("coding")[0]) == (None, 1.0)
    assert set(row.groups) == {"ch2", "ch3"}
    assert ranking.rebuild(check=True) == []
    client = Client()
    told = client.get(f"/api/v1/releases/{made.slug}/board").json()
    assert told["questions_from"] is not None
    assert (told["problems"], told["problems_of_release"]) == (3, 3)
    page = client.get(made.get_absolute_url()).content.decode()
    assert f"from {made.reveals_at:%Y-%m-%d}</" in page
    reveal(made)
    assert _row(made).n_problems == 6
    assert ranking.rebuild(check=True) == []
    assert "from 20" not in client.get(made.get_absolute_url()).content.decode()


@pytest.mark.parametrize("asked", [ASKED, ASKED[3:]], ids=["with code", "questions alone"])
def test_where_questions_alone_rank_nobody_is_ranked_before(cast: Cast, asked: Any) -> None:
    made = mixed.release(asked, {}, policy="", reveals_at=in_a_month(), primary_metric="questions")
    _done(sent(cast.entrant, made, factories.offer(made)))
    assert (_row(made).rank, _row(made).primary_value, _row(made).is_incomplete) == (None, None, False)
    reveal(made)
    assert (_row(made).rank, _row(made).primary_value) == (1, 1.0)


def test_tries_are_bounded_by_entrant_over_accounts_and_by_account_over_entrants(
    cast: Cast, made: Release, track: Track, settings: Any
) -> None:
    settings.DAILY_TRIES = 2
    sent(cast.entrant, made, track, "A")
    cancel(cast.owner, sent(cast.entrant, made, track, "B"))
    for user in (cast.owner, cast.teammate):
        with pytest.raises(TooMuch, match="2 full submissions of Alpha to test-1 are from today"):
            check_tries(user, cast.entrant, made)
    with pytest.raises(TooMuch, match="Alpha"):
        sent(cast.entrant, made, track, "C")
    another = factories.EntrantFactory(owner=cast.owner)
    with pytest.raises(TooMuch, match="of your account"):
        sent(another, made, track, "A")
    check_tries(cast.stranger, cast.strangers_entrant, made)
    check_tries(cast.organiser, cast.entrant, made)
    Submission.objects.update(created_at=timezone.now() - timedelta(days=1))
    check_tries(cast.teammate, cast.entrant, made)


def test_imported_rows_of_other_replies_do_not_count(cast: Cast, made: Release, track: Track, tmp_path: Any) -> None:
    _done(sent(cast.entrant, made, track, "A"))
    rows = [compute_evals_row(one, "exit 0") for one in made.problems.order_by("position")]
    for row in rows[3:]:
        row["solution"] = question_site.reply(row["task_id"], "Final: B") | {"datapack_name": "one"}
    file = write(tmp_path / "graded.jsonl", rows)
    with file.open("rb") as source:
        done = import_results(cast.organiser, ImportTarget(cast.entrant, made, track), source, file.name)
    settle_questions()
    assert (_questions_right(done.submission), done.n_stored) == (0, 3)
    assert AuditEntry.objects.get(action="import results").detail["verdicts"] == {"passed": 3}


def test_what_did_not_ask_to_count_cannot_be_chosen(made: Release, track: Track, cast: Cast) -> None:
    """Its replies were not exchanged for the first ones: so it would be a way around them."""
    _done(sent(cast.entrant, made, track, "A"))
    silent = _done(sent(cast.entrant, made, track, "B", counted=False))
    assert offered_tracks(cast.owner, silent) == []
    with pytest.raises(Refused) as refused:
        choose(cast.owner, silent, [track])
    assert refused.value.code == "did_not_ask"
