"""The rollout pages: a problem's samples side by side, as far as each visitor may read them, and organisers' notes."""

from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from zeal import zeal_context

from leaderboard.actions.curation import curate
from leaderboard.actions.intake.submit import submit
from leaderboard.actions.submissions.note_sample import note_sample, take_note_back
from leaderboard.errors import NotAllowed
from leaderboard.intake.catalogue import catalogue_of
from leaderboard.models import AuditEntry, Evaluation, Sample, SampleNote, Submission
from leaderboard.rows.submissions import SubmissionMetadata
from leaderboard.settle.questions import settle_questions
from problems.formats.submission import read_submission
from problems.models import Release
from runners.wire.protocol import Report, Verdict
from tests import factories, packs, question_site
from tests.blob_stores import no_folder
from tests.factories import Cast
from tests.markup import markup

PROMPT, REPLY, CODE, REASON = "prompt words", "reply words", "solution words", "first failure words"
GENERATED = {"prompt": [{"role": "user", "content": PROMPT}], "completion": REPLY, "usage": {"completion_tokens": 71}}


def first_passes(evaluation: Evaluation) -> Report:
    return factories.report(Verdict.PASSED if evaluation.sample.index == 0 else Verdict.TEST_FAILED)


def generated(
    entrant: Any,
    made: Release,
    n_samples: int = 2,
    judged: factories.Judge = first_passes,
    left_out: str = "",
    **extra: Any,
) -> Submission:
    """Judged samples whose records say how they were generated: `extra` in place of GENERATED where it is given."""
    task_ids = made.problems.exclude(slug=left_out).values_list("task_id", flat=True)
    lines = [
        packs.solution(task_id, f"exit 0 # {CODE} {n}") | (extra or GENERATED)
        for task_id in task_ids for n in range(n_samples)
    ]  # fmt: skip
    file = packs.solution_pack(lines, made.datapack_release)
    draft = read_submission(file, "pack-solutions.tar.gz", catalogue_of(made))
    track = made.on_tracks.get().track
    stored = submit(
        factories.submitter(entrant), SubmissionMetadata(entrant=entrant, release=made, tracks=[track]), draft
    ).submission
    factories.judge(stored, judged)
    return stored


@pytest.fixture
def made(db: Any) -> Release:
    found = factories.release()
    factories.offer(found)
    return found


@pytest.fixture
def stored(cast: Cast, made: Release) -> Submission:
    return generated(cast.entrant, made)


def page(stored: Submission, **query: str) -> str:
    return reverse("rollouts", args=[stored.pk], query=query)


def text(client: Client, path: str) -> str:
    answer = client.get(path)
    assert answer.status_code == 200, path
    return markup(answer)


def publish_code(cast: Cast) -> None:
    cast.entrant.publishes_code = True
    cast.entrant.save()


@pytest.mark.parametrize(
    ("who", "is_published", "seen"),
    [
        (None, False, set()),
        ("stranger", False, set()),
        (None, True, {CODE}),
        ("stranger", True, {CODE}),
        ("owner", False, {PROMPT, REPLY, CODE, REASON}),
        ("teammate", False, {PROMPT, REPLY, CODE, REASON}),
        ("organiser", False, {PROMPT, REPLY, CODE, REASON}),
    ],
)
def test_each_reads_of_a_rollout_what_is_theirs(
    client: Client, cast: Cast, stored: Submission, who: str | None, is_published: bool, seen: set[str]
) -> None:
    if is_published:
        publish_code(cast)
    if who:
        client.force_login(getattr(cast, who))
    shown = text(client, page(stored, problem="shell-0"))
    assert {words for words in (PROMPT, REPLY, CODE, REASON) if words in shown} == seen
    assert "test failed" in shown
    sample = Sample.objects.filter(submission=stored).first()
    for part, words in {"record": CODE, "prompt": PROMPT, "reply": REPLY, "file-0": CODE}.items():
        status = client.get(reverse("rollout_text", args=[stored.pk, sample.pk, part])).status_code
        assert status == (200 if words in seen else 404)


def test_a_release_may_make_transcripts_public(client: Client, cast: Cast, stored: Submission) -> None:
    publish_code(cast)
    sample = Sample.objects.filter(submission=stored).first()
    record = reverse("rollout_text", args=[stored.pk, sample.pk, "record"])
    private = text(client, record)
    assert CODE in private
    assert not any(words in private for words in (PROMPT, REPLY))
    Release.objects.update(transcripts_are_public=True)
    assert all(words in text(client, record) for words in (PROMPT, REPLY, CODE))
    assert all(words in text(client, page(stored, problem="shell-0")) for words in (PROMPT, REPLY, CODE))


def test_prompts_of_a_private_release_are_read_only_where_its_statements_are(
    client: Client, cast: Cast, made: Release, stored: Submission
) -> None:
    publish_code(cast)
    Release.objects.update(is_public=False)
    client.force_login(cast.stranger)
    assert client.get(page(stored, problem="shell-0")).status_code == 404
    made.invited.add(cast.stranger)
    assert PROMPT not in text(client, page(stored, problem="shell-0"))
    Release.objects.update(transcripts_are_public=True)
    assert PROMPT in text(client, page(stored, problem="shell-0"))
    client.force_login(cast.owner)
    assert PROMPT in text(client, page(stored, problem="shell-0"))


def test_hidden_results_hide_the_rollouts(client: Client, cast: Cast, stored: Submission, far_future: Any) -> None:
    publish_code(cast)
    Release.objects.update(hidden_until=far_future)
    for address in (page(stored), page(stored, problem="shell-0")):
        assert client.get(address).status_code == 404


@pytest.fixture
def answered(cast: Cast) -> Submission:
    made = question_site.release()
    lines = [
        question_site.reply("qa-1-warps", "Final: B") | GENERATED,
        question_site.reply("qa-1-warps", "Final: C"),
        question_site.reply("qa-1-bytes", "\n"),
        question_site.reply("qa-1-bytes", "Final: 12"),
    ]
    found = question_site.submitted(cast.entrant, made, made.on_tracks.get().track, *lines)
    settle_questions()
    return found


def test_a_questions_samples_say_how_their_replies_were_read(client: Client, cast: Cast, answered: Submission) -> None:
    client.force_login(cast.owner)
    warps = text(client, page(answered, problem="qa-1-warps"))
    assert "Read as: <b>B</b>" in warps
    assert "Read as: <b>C</b>" in warps
    assert REPLY in warps
    assert "71" in warps
    nbytes = text(client, page(answered, problem="qa-1-bytes"))
    assert "Read as: <b>12</b>" in nbytes
    assert "no answer that can be told" in nbytes
    assert "4096" not in nbytes


def test_published_replies_to_questions_are_read_by_others_after_closing(
    client: Client, cast: Cast, answered: Submission
) -> None:
    publish_code(cast)
    shown = text(client, page(answered, problem="qa-1-warps"))
    assert "once the release is closed" in shown
    assert not any(words in shown for words in (PROMPT, REPLY, "Read as", "Final: C"))
    sample = Sample.objects.filter(submission=answered).first()
    assert client.get(reverse("rollout_text", args=[answered.pk, sample.pk, "prompt"])).status_code == 404
    curate.freeze(None, answered.release)
    Release.objects.update(transcripts_are_public=True)
    shown = text(client, page(answered, problem="qa-1-warps"))
    assert all(words in shown for words in (PROMPT, REPLY, "Read as", "Final: C"))
    assert "which is not the answer" not in shown


def test_the_verdict_filters_problems_and_samples(client: Client, cast: Cast, stored: Submission) -> None:
    shown = text(client, page(stored, verdict="test_failed", problem="shell-1"))
    assert 'id="sample-2"' in shown
    assert 'id="sample-1"' not in shown
    assert "1 test failed" in text(client, page(stored, verdict="test_failed"))
    assert "1 passed" not in text(client, page(stored, verdict="test_failed"))
    assert "No sample fits" in text(client, page(stored, verdict="timed_out"))


def test_a_problem_that_the_submission_lacks_is_not_found(client: Client, stored: Submission) -> None:
    assert client.get(page(stored, problem="elsewhere")).status_code == 404


def test_long_texts_are_cut_and_lead_to_the_whole(client: Client, cast: Cast, made: Release) -> None:
    stored = generated(cast.entrant, made, n_samples=1, completion="reply " * 5000 + "its end")
    client.force_login(cast.owner)
    shown = text(client, page(stored, problem="shell-0"))
    assert "Only the first 8000 characters are shown." in shown
    assert "its end" not in shown
    whole = reverse("rollout_text", args=[stored.pk, stored.samples.first().pk, "reply"])
    assert f'href="{whole}"' in shown
    answer = client.get(whole)
    assert answer.content.endswith(b"its end")
    assert answer["Content-Type"].startswith("text/plain")
    assert answer["X-Content-Type-Options"] == "nosniff"


def test_a_record_too_long_for_the_page_is_offered_as_text(client: Client, cast: Cast, made: Release) -> None:
    stored = generated(cast.entrant, made, n_samples=1, notes="x" * (1 << 20))
    client.force_login(cast.owner)
    assert "longer than 1 MiB" in text(client, page(stored, problem="shell-0"))
    path = reverse("rollout_text", args=[stored.pk, stored.samples.first().pk, "record"])
    assert client.get(path).status_code == 200


def test_of_many_files_ten_are_shown(client: Client, cast: Cast, made: Release) -> None:
    files = [{"path": f"part-{n}.sh", "content": "exit 0"} for n in range(12)]
    stored = generated(cast.entrant, made, n_samples=1, files=files)
    client.force_login(cast.owner)
    shown = text(client, page(stored, problem="shell-0"))
    assert shown.count("<code>part-") == 10
    assert "2 more files" in shown


def test_html_in_a_rollout_is_text(client: Client, cast: Cast, made: Release) -> None:
    hostile = {"prompt": [{"role": "<b>user</b>", "content": "<script>alert(1)</script>"}], "completion": "<img src=x>"}
    stored = generated(cast.entrant, made, n_samples=1, **hostile)
    client.force_login(cast.owner)
    shown = text(client, page(stored, problem="shell-0"))
    assert not any(tag in shown for tag in ("<b>user", "<script>alert", "<img src=x>"))
    assert "&lt;script&gt;alert(1)" in shown


def test_a_lost_record_is_said_beside_the_others(
    client: Client, cast: Cast, stored: Submission, blob_folder: Any
) -> None:
    lost = stored.samples.get(problem__slug="shell-0", index=1).solution_sha256
    (blob_folder / lost[:2] / lost[2:4] / lost).unlink()
    client.force_login(cast.owner)
    shown = text(client, page(stored, problem="shell-0"))
    assert "no longer kept" in shown
    assert REPLY in shown


def test_while_the_blob_store_is_down_the_page_still_tells_the_verdicts(
    client: Client, cast: Cast, stored: Submission, settings: Any, blob_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    no_folder(settings, blob_folder, monkeypatch)
    client.force_login(cast.owner)
    shown = text(client, page(stored, problem="shell-0"))
    assert "cannot be read now" in shown
    assert "test failed" in shown
    whole = reverse("rollout_text", args=[stored.pk, stored.samples.first().pk, "record"])
    assert client.get(whole).status_code == 503


def test_at_most_twenty_samples_a_page_and_more_cost_no_more_queries(client: Client, cast: Cast) -> None:
    made = factories.release(1, max_samples=50)
    factories.offer(made)
    client.force_login(cast.organiser)
    costs = []
    for n in (2, 30):
        stored = generated(cast.entrant, made, n_samples=n)
        with CaptureQueriesContext(connection) as queries, zeal_context():
            shown = text(client, page(stored, problem="shell-0"))
        costs.append(len(queries))
    assert shown.count("<article") == 20
    assert text(client, page(stored, problem="shell-0", page="2")).count("<article") == 10
    assert costs[0] == costs[1] <= 20


def note_url(stored: Submission, index: int = 0) -> str:
    sample = stored.samples.get(problem__slug="shell-0", index=index)
    return reverse("note_rollout", args=[stored.pk, sample.pk]) + "?verdict=passed"


def test_an_organiser_notes_changes_and_takes_back(client: Client, cast: Cast, stored: Submission) -> None:
    client.force_login(cast.organiser)
    answer = client.post(note_url(stored), {"thumb": "down", "text": "The statement can be read in two ways."})
    assert answer["Location"] == page(stored, verdict="passed", problem="shell-0") + "#sample-1"
    assert "read in two ways" in text(client, page(stored, problem="shell-0"))
    client.post(note_url(stored), {"thumb": "up", "text": ""})
    assert SampleNote.objects.values_list("thumb", "text").get() == ("up", "")
    client.post(note_url(stored), {"take_back": "1"})
    assert not SampleNote.objects.exists()
    acts = AuditEntry.objects.filter(actor=cast.organiser, target__startswith="sample ").order_by("pk")
    assert list(acts.values_list("action", flat=True)) == ["note", "note", "take note back"]
    assert {act.detail["submission"] for act in acts} == {stored.pk}


@pytest.mark.parametrize("fields", [{}, {"thumb": "sideways"}, {"thumb": "up", "text": "x" * 2001}])
def test_a_note_without_a_thumb_or_too_long_is_refused(
    client: Client, cast: Cast, stored: Submission, fields: dict[str, str]
) -> None:
    client.force_login(cast.organiser)
    client.post(note_url(stored), fields)
    assert not SampleNote.objects.exists()


def test_notes_are_organisers_alone(client: Client, cast: Cast, stored: Submission) -> None:
    client.force_login(cast.organiser)
    client.post(note_url(stored), {"thumb": "down", "text": "note words"})
    assert 'name="notes"' in text(client, page(stored))
    filtered = text(client, page(stored, notes="1"))
    assert "Problem number 0</a>" in filtered
    assert "Problem number 1</a>" not in filtered
    client.force_login(cast.owner)
    for address in (page(stored, problem="shell-0"), stored.get_absolute_url(), page(stored, notes="1")):
        shown = text(client, address)
        assert "note words" not in shown
        assert "Problem number 0" in shown
    assert "Problem number 1</a>" in text(client, page(stored, notes="1"))
    assert client.post(note_url(stored), {"thumb": "up"}).status_code == 404


def test_the_actions_themselves_refuse_a_team(cast: Cast, stored: Submission) -> None:
    sample = stored.samples.first()
    with pytest.raises(NotAllowed):
        note_sample(cast.owner, sample, "up", "")
    with pytest.raises(NotAllowed):
        take_note_back(cast.owner, sample)


def test_each_organiser_has_a_note_of_their_own(client: Client, cast: Cast, stored: Submission) -> None:
    second = factories.UserFactory(username="second", is_staff=True)
    for user, words in ((cast.organiser, "first view"), (second, "second view")):
        client.force_login(user)
        client.post(note_url(stored), {"thumb": "up", "text": words})
    shown = text(client, page(stored, problem="shell-0"))
    assert "first view" in shown
    assert shown.count("second view") == 1


def test_the_pages_of_a_submission_lead_to_its_rollouts(client: Client, stored: Submission) -> None:
    evaluation = stored.evaluations.filter(sample__index=1).first()
    assert f"{reverse('rollouts', args=[stored.pk])}?problem=" in text(client, stored.get_absolute_url())
    assert "#sample-2" in text(client, evaluation.get_absolute_url())


@pytest.mark.parametrize(
    ("n_samples", "said", "unsaid"), [(1, ">rollout</a>", "side by side"), (2, ">side by side</a>", "its rollout")]
)
def test_one_sample_stands_beside_nothing(
    client: Client, cast: Cast, made: Release, n_samples: int, said: str, unsaid: str
) -> None:
    stored = generated(cast.entrant, made, n_samples, left_out="shell-1")
    pages = [stored.get_absolute_url(), stored.evaluations.first().get_absolute_url(), page(stored)]
    shown = [text(client, one) for one in [*pages, page(stored, problem="shell-0")]]
    assert said in shown[0]
    assert all(unsaid not in one.lower() for one in shown)
    assert ">no sample</span>" in shown[0]
    none = text(client, page(stored, problem="shell-1"))
    assert f"The {n_samples} sample{'s' * (n_samples > 1)} of this problem" in none
    assert "more sample" not in none
