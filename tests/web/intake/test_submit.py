"""Submitting by the web: the same words as everywhere, and nothing stored when the form is refused."""

import io
import re
import zipfile
from datetime import timedelta
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse
from django.utils import timezone

from leaderboard.models import Evaluation, Submission
from tests import factories, packs
from tests.factories import Cast
from tests.markup import markup


@pytest.fixture
def shop(cast: Cast, client: Any) -> Any:
    made = factories.release()
    track = factories.offer(made)
    client.force_login(cast.owner)
    return made, track


def _pack(task_ids: list[str], script: str = "exit 0") -> SimpleUploadedFile:
    content = packs.solution_pack([packs.solution(task_id, script) for task_id in task_ids]).getvalue()
    return SimpleUploadedFile("mine-solutions.tar.gz", content)


def _post(client: Any, shop: Any, pack: Any, **changes: Any) -> Any:
    made, track = shop
    fields = {"release": made.slug, "entrant": "alpha", "tracks": [track.slug], "counted": "on", "file": pack}
    return client.post(reverse("submit"), fields | changes)


def test_a_whole_pack_is_stored_and_counted(client: Any, shop: Any) -> None:
    answer = _post(client, shop, _pack(["Shell/0", "Shell/1", "Shell/2"]), note="temperature 0")
    stored = Submission.objects.get()
    assert answer.url == stored.get_absolute_url()
    assert (stored.is_full, stored.asks_to_count, stored.note) == (True, True, "temperature 0")
    assert (stored.submitted_through, stored.evaluations.count()) == ("web", 3)


def test_sending_the_same_again_stores_nothing_and_says_so(client: Any, shop: Any) -> None:
    for _ in range(2):
        answer = _post(client, shop, _pack(["Shell/0", "Shell/1", "Shell/2"]))
    assert Submission.objects.count() == 1
    assert "here already" in markup(client.get(answer.url))


def test_an_equal_pack_is_offered_to_count_and_chosen_on_its_page(client: Any, shop: Any, cast: Cast) -> None:
    made, track = shop
    better, worse = _pack(["Shell/0", "Shell/1", "Shell/2"]), _pack(["Shell/0", "Shell/1", "Shell/2"], "exit 1")
    for pack in (better, worse):
        _post(client, shop, pack)
        factories.judge(Submission.objects.latest("pk"))
    factories.rank(made, track)
    first, second = Submission.objects.order_by("pk")
    answer = _post(client, shop, _pack(["Shell/0", "Shell/1", "Shell/2"]))
    assert answer.url == first.get_absolute_url()
    page = markup(client.get(answer.url))
    assert f"Choose it on its page, or by `podium choose {first.pk}`, to let it count on cpu-test." in page
    assert "Count it on cpu-test" in page
    assert "Counts on</dt><dd>no track" in page
    said = client.post(reverse("choose_submission", args=[first.pk]), {"track": track.slug}, follow=True)
    assert f"Submission #{first.pk} counts on cpu-test from now on." in markup(said)
    page = markup(client.get(first.get_absolute_url()))
    assert "Counts on</dt><dd>cpu-test" in page
    assert "Count it on cpu-test" not in page
    assert "Count it on cpu-test" in markup(client.get(second.get_absolute_url()))
    client.force_login(cast.stranger)
    assert "Count it on cpu-test" not in markup(client.get(second.get_absolute_url()))


def test_choosing_without_a_track_says_which_there_are(client: Any, shop: Any, cast: Cast) -> None:
    stored = factories.judged_submission(cast.entrant, *shop)
    said = markup(client.post(reverse("choose_submission", args=[stored.pk]), follow=True))
    assert f"Name at least one track of submission #{stored.pk}: cpu-test." in said


def test_what_is_left_out_counts_as_missing(client: Any, shop: Any) -> None:
    _post(client, shop, _pack(["Shell/0"]))
    stored = Submission.objects.get()
    assert stored.samples.count() == 1
    assert "2 invalid" in markup(client.get(stored.get_absolute_url()))


def test_an_unknown_task_is_named_with_its_line(client: Any, shop: Any) -> None:
    answer = _post(client, shop, _pack(["Shell/0", "Shell/999"]))
    text = markup(answer)
    assert answer.status_code == 422
    assert "Line 2" in text
    assert "Shell/999" in text
    assert not Submission.objects.exists()


def test_a_bad_path_makes_its_sample_invalid_and_the_others_go_on(client: Any, shop: Any) -> None:
    rows = [packs.solution("Shell/0", "exit 0", path="../escape.sh"), packs.solution("Shell/1", "exit 0")]
    _post(client, shop, SimpleUploadedFile("x-solutions.tar.gz", packs.solution_pack(rows).getvalue()))
    verdicts = Evaluation.objects.filter(current_result__verdict="invalid").values_list("problem__task_id", flat=True)
    assert set(verdicts) == {"Shell/0"}


def test_a_zip_of_folders_will_do(client: Any, shop: Any) -> None:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for n in range(3):
            archive.writestr(f"Shell_{n}/solution.sh", "exit 0\n")
    _post(client, shop, SimpleUploadedFile("mine.zip", target.getvalue()))
    assert Submission.objects.get().is_full


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"file": SimpleUploadedFile("notes.txt", b"hello")}, "neither a solutions pack"),
        ({"file": ""}, "Choose a file"),
        ({"tracks": []}, "Choose at least one track"),
        ({"entrant": "strangers-model"}, "Select a valid choice"),
    ],
)
def test_a_refusal_says_what_is_wrong(changes: dict[str, Any], words: str, client: Any, shop: Any) -> None:
    answer = _post(client, shop, _pack(["Shell/0"]), **changes)
    assert answer.status_code == 422
    assert words in markup(answer)
    assert not Submission.objects.exists()


def test_a_file_too_large_is_refused_with_both_sizes(client: Any, shop: Any, settings: Any) -> None:
    settings.UPLOAD_MAX_BYTES = 1024 * 1024
    file = SimpleUploadedFile("big.zip", b"0" * (3 * 1024 * 1024 // 2))
    text = markup(_post(client, shop, file))
    assert "1.5 MiB" in text
    assert "1 MiB" in text


def test_a_closed_release_says_when_it_closed(client: Any, shop: Any) -> None:
    made, _ = shop
    type(made).objects.update(closes_at=timezone.now() - timedelta(days=1))
    assert "closed at" in markup(_post(client, shop, _pack(["Shell/0"])))
    assert not Submission.objects.exists()


def test_without_an_entrant_the_page_leads_to_one(client: Any, shop: Any) -> None:
    client.force_login(factories.UserFactory())
    assert reverse("new_entrant") in markup(client.get(reverse("submit")))


def _typed(client: Any, shop: Any, **fields: Any) -> Any:
    made, track = shop
    path = reverse("submit_typed", args=[made.slug, "shell-1"])
    return client.post(path, {"entrant": "alpha", "tracks": [track.slug], **fields})


def test_typed_code_is_a_partial_submission_of_one_sample(client: Any, shop: Any) -> None:
    _typed(client, shop, **{"path-0": "solution.sh", "content-0": "exit 0\r\necho done\r\n"})
    stored = Submission.objects.get()
    assert (stored.is_full, stored.samples.count(), stored.samples.get().problem.task_id) == (False, 1, "Shell/1")
    client.force_login(shop[0].submissions.get().submitted_by)
    text = markup(client.get(stored.evaluations.get().get_absolute_url()))
    assert "exit 0\necho done" in re.sub("<[^>]+>", "", text), "line ends are as they were typed"


def test_empty_code_is_refused_and_what_was_typed_stays(client: Any, shop: Any) -> None:
    answer = _typed(client, shop, **{"path-0": "other.sh", "content-0": "  "})
    text = markup(answer)
    assert answer.status_code == 422
    assert "no file has any content" in text
    assert 'value="other.sh"' in text


def test_cancel_and_rerun_say_what_they_did(client: Any, shop: Any, cast: Cast) -> None:
    made, track = shop
    stored = factories.submission(cast.entrant, made, track)
    factories.judge(stored)
    text = markup(client.post(reverse("rerun_submission", args=[stored.pk]), {"reason": ""}, follow=True))
    assert "Say why" in text
    text = markup(
        client.post(
            reverse("rerun_evaluation", args=[stored.evaluations.first().pk]), {"reason": "odd time"}, follow=True
        )
    )
    assert "Queued again" in text
    assert "odd time" in text
    again = factories.submission(cast.entrant, made, track, script="exit 0 # other")
    text = markup(client.post(reverse("cancel_submission", args=[again.pk]), follow=True))
    assert "6 evaluations were withdrawn" in text
    again.refresh_from_db()
    assert again.state == "cancelled"


def test_a_download_is_the_pack_that_was_sent(client: Any, shop: Any, cast: Cast) -> None:
    from leaderboard.intake.catalogue import catalogue_of
    from problems.formats.submission import read_submission

    made, track = shop
    stored = factories.submission(cast.entrant, made, track)
    content = client.get(reverse("download_submission", args=[stored.pk])).content
    draft = read_submission(io.BytesIO(content), "x-solutions.tar.gz", catalogue_of(made))
    assert draft.digest == stored.digest
