"""Pages of questions: a form for each, and an answer that nobody but organisers reads before the release is closed."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from leaderboard.actions.curation import curate
from leaderboard.models import Submission
from leaderboard.settle.questions import settle_questions
from leaderboard.standings.rank import rank_touched
from problems.actions.releases import import_release
from problems.models import Problem, Release
from tests.factories import Cast
from tests.markup import markup
from tests.packs import problem_pack
from tests.question_records import EXPLANATION, choice, short
from tests.question_site import release, reply, submitted

OWN_WORDS = "my thoughts on lanes"


@pytest.fixture
def made(db: Any) -> Release:
    return release()


@pytest.fixture
def own(cast: Cast, made: Release) -> Submission:
    stored = submitted(
        cast.entrant, made, made.on_tracks.get().track, reply("qa-1-warps", f"{OWN_WORDS}\nFinal: B"),
        reply("qa-1-bytes", "Final: 12"),
    )  # fmt: skip
    settle_questions()
    rank_touched()
    return stored


def page(problem: Problem) -> str:
    return reverse("problem", args=[problem.release.slug, problem.slug])


def text(client: Client, path: str) -> str:
    answer = client.get(path)
    assert answer.status_code == 200, path
    return markup(answer)


def test_a_choice_shows_its_lettered_texts_and_a_form_to_choose(client: Client, cast: Cast, made: Release) -> None:
    client.force_login(cast.owner)
    shown = text(client, page(made.problems.get(kind="choice")))
    assert "<li><p>eight warps</p>" in shown
    assert shown.count('type="radio"') == 3
    assert "Final: &lt;letter&gt;" in shown
    assert "Run the visible tests" not in shown


def test_a_typed_answer_is_settled(client: Client, cast: Cast, made: Release) -> None:
    client.force_login(cast.owner)
    fields = {"entrant": cast.entrant.slug, "tracks": ["no-hardware"], "note": ""}
    for kind, answer in (("choice", "B"), ("short_answer", "4,096 bytes")):
        address = reverse("submit_typed", args=[made.slug, made.problems.get(kind=kind).slug])
        assert client.post(address, fields | {"answer": answer}).status_code == 302
    assert settle_questions() == 2
    assert set(Submission.objects.values_list("evaluations__current_result__verdict", flat=True)) == {"passed"}


@pytest.mark.parametrize(("kind", "answer"), [("choice", "Z"), ("choice", ""), ("short_answer", " ")])
def test_an_answer_that_is_none_is_refused_at_the_field(
    client: Client, cast: Cast, made: Release, kind: str, answer: str
) -> None:
    client.force_login(cast.owner)
    address = reverse("submit_typed", args=[made.slug, made.problems.get(kind=kind).slug])
    said = client.post(address, {"entrant": cast.entrant.slug, "tracks": ["no-hardware"], "answer": answer})
    assert said.status_code == 422
    assert "errorlist" in markup(said)
    assert not Submission.objects.exists()


def test_running_a_question_is_refused_with_words(client: Client, cast: Cast, made: Release) -> None:
    client.force_login(cast.owner)
    address = reverse("run_typed", args=[made.slug, made.problems.get(kind="choice").slug])
    fields = {"entrant": cast.entrant.slug, "tracks": ["no-hardware"], "answer": "B"}
    said = client.post(address, fields, headers={"HX-Request": "true"})
    assert "there is nothing to run" in markup(said)


def _everything(client: Client, made: Release, own: Submission) -> str:
    """All that a participant can fetch about a question and a sample of it."""
    problem = made.problems.get(kind="choice")
    evaluation = own.evaluations.get(problem=problem)
    api = f"/api/v1/releases/{made.slug}/problems/{problem.slug}"
    paths = [page(problem), api, evaluation.get_absolute_url(), f"/api/v1/evaluations/{evaluation.pk}"]
    return "".join(text(client, path) for path in paths)


@pytest.mark.parametrize("who", [None, "stranger", "owner"])
def test_the_explanation_is_shown_to_all_once_the_release_is_closed(
    client: Client, cast: Cast, made: Release, own: Submission, who: str | None
) -> None:
    if who:
        client.force_login(getattr(cast, who))
    assert "Explanation words" not in _everything(client, made, own)
    Release.objects.update(closes_at=timezone.now() - timedelta(seconds=1))
    made.refresh_from_db()
    assert "Explanation words" in EXPLANATION
    assert "Explanation words" in text(client, page(made.problems.get(kind="choice")))
    assert "docs.example.org/guide" in text(client, page(made.problems.get(kind="choice")))


def test_a_published_reply_is_read_by_others_only_after_closing(
    client: Client, cast: Cast, made: Release, own: Submission
) -> None:
    cast.entrant.publishes_code = True
    cast.entrant.save()
    client.force_login(cast.stranger)
    assert OWN_WORDS not in _everything(client, made, own)
    assert "once the release is closed" in _everything(client, made, own)
    pack = client.get(reverse("download_submission", args=[own.pk]))
    assert pack.status_code == 404
    curate.freeze(None, made)
    assert OWN_WORDS in _everything(client, made, own)
    assert client.get(reverse("download_submission", args=[own.pk])).status_code == 200


def test_the_team_reads_its_reply_and_how_it_was_understood(client: Client, cast: Cast, own: Submission) -> None:
    client.force_login(cast.owner)
    wrong = own.evaluations.get(problem__kind="short_answer").get_absolute_url()
    assert "The reply was read as &#x27;12&#x27;, which is not the answer." in text(client, wrong)
    assert OWN_WORDS in text(client, own.evaluations.get(problem__kind="choice").get_absolute_url())
    assert "4096" not in text(client, wrong)
    assert "Witness" not in text(client, wrong)


def test_strangers_do_not_learn_how_a_reply_was_read(client: Client, cast: Cast, own: Submission) -> None:
    wrong = own.evaluations.get(problem__kind="short_answer")
    assert "was read as" not in text(client, wrong.get_absolute_url())
    assert client.get(f"/api/v1/evaluations/{wrong.pk}").json()["result"]["reason"] == ""


def test_the_api_tells_a_questions_facts_and_not_its_answer(client: Client, made: Release) -> None:
    found = client.get(f"/api/v1/releases/{made.slug}/problems/qa-1-warps").json()
    assert found["choices"] == ["four warps", "eight warps", "a warp of 256 lanes"]
    assert (found["kind"], found["final_line"], found["grading"]) == ("choice", "Final: <letter>", "lenient")
    assert not {"answer", "explanation", "accept", "record"} & found.keys()


def test_no_digest_tells_the_answer_of_a_question(client: Client, made: Release) -> None:
    digests = made.problems.get(kind="choice")
    for path in (f"/api/v1/releases/{made.slug}/problems/qa-1-warps", f"/api/v1/releases/{made.slug}/problems"):
        shown = text(client, path)
        assert digests.grading_digest not in shown
        assert digests.record_md5 not in shown


def test_an_import_names_questions_whose_answers_could_be_guessed(db: Any) -> None:
    pack = problem_pack([choice(), short("qa-1-a"), short("qa-1-b", salt="kD83nfz")], "quiz")
    lines = import_release(pack).lines
    assert any(line.startswith("Note: qa-1-a have neither `explanation` nor `salt`") for line in lines)
