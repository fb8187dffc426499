"""A release's page for its organiser: what the checklist says of it, its frozen boards, and its redacted export."""

import hashlib
import io
import json
from datetime import timedelta
from typing import Any

import pytest
from django.db import DatabaseError, transaction
from django.urls import reverse
from django.utils import timezone

from leaderboard import blobs
from leaderboard.actions.curation import curate
from leaderboard.actions.curation.decide import void_problem
from leaderboard.actions.curation.verify import verify
from leaderboard.curation.checklist import Item, LineState, checklist
from leaderboard.errors import NotAllowed, Refused
from leaderboard.models import BoardSnapshot, Evaluation
from problems.models import Release
from runners.wire.protocol import Verdict
from tests import factories
from tests.admin.pages import act, signed_in, text
from tests.factories import Cast
from tests.markup import markup

RELEASE = "problems_release"


def _line(made: Release, title: str) -> Item:
    return next(one for one in checklist(Release.objects.get(pk=made.pk)) if one.title == title)


def _with_known_bad(n: int) -> dict[str, Any]:
    fields = factories.example_problem(n)
    bad = {"name": "empty", "expect": "test_failed", "files": [{"path": "solution.sh", "content": "exit 3"}]}
    fields["metadata"]["podium"]["known_bad"] = [bad]
    return fields


def _verified(made: Release, cast: Cast) -> None:
    """Verify it on a track; everything ends as it must."""
    verify(cast.organiser, made, factories.offer(made))
    for one in Evaluation.objects.select_related("submission__entrant"):
        good = one.submission.entrant.slug == "_reference"
        verdict = Verdict.PASSED if good else Verdict.TEST_FAILED
        factories.judge(one.submission, lambda _one, said=verdict: factories.report(said))


def test_every_line_of_a_bare_draft_names_its_remedy(cast: Cast) -> None:
    made = factories.release(2, publish=False)
    assert _line(made, "Problems").detail == "2 of kind command"
    tracks = _line(made, "Tracks")
    assert (tracks.state, tracks.act) == (LineState.OPEN, "offer")
    verification = _line(made, "Verification")
    assert (verification.state, verification.act) == (LineState.OPEN, "verify")
    assert verification.more == [f"Shell/{n}: the release is not offered on a track" for n in range(2)]
    assert "none for Shell/0, Shell/1" in _line(made, "Known-bad solutions").detail
    assert _line(made, "Licence").state == _line(made, "Dataset card").state == LineState.ADVICE
    for line in checklist(made):
        assert line.state is LineState.DONE or line.remedy, line


def test_what_is_done_says_so(cast: Cast) -> None:
    changes = {"licence": "MIT", "dataset_card": "Two small problems."}
    made = factories.release(2, publish=False, problem=_with_known_bad, **changes)
    _verified(made, cast)
    assert "2 on cpu-test" in _line(made, "Verification").detail
    assert [line.title for line in checklist(made) if line.state is not LineState.DONE] == []


def test_a_draft_without_problems_has_nothing_done_that_problems_would_do(cast: Cast) -> None:
    made = factories.release(1, publish=False, one_command=True)
    made.problems.all().delete()
    made.refresh_from_db()
    lines = {line.title: line for line in checklist(made)}
    assert (lines["Verification"].state, lines["Verification"].detail) == (LineState.OPEN, "no problems to verify yet")
    assert lines["Promises"].state is LineState.OPEN
    assert "Known-bad solutions" not in lines


def test_a_draft_without_problems_and_a_bad_ranking_are_to_do(cast: Cast) -> None:
    made = factories.release(1, publish=False, primary_metric="weighted")
    made.problems.all().delete()
    assert _line(made, "Problems").state is LineState.OPEN
    ranking = _line(made, "Ranking")
    assert ranking.state is LineState.OPEN
    assert "weight" in ranking.remedy


@pytest.mark.parametrize(
    ("dates", "words"),
    [
        ({"closes_at": -1}, "would close before it is published"),
        ({"closes_at": 5, "hidden_until": 3}, "visible before the release closes"),
        ({"opens_at": 5, "hidden_until": 3}, "hides nothing"),
    ],
)
def test_odd_dates_are_told(dates: dict[str, int], words: str, cast: Cast) -> None:
    now = timezone.now()
    made = factories.release(1, publish=False, **{name: now + timedelta(days=days) for name, days in dates.items()})
    line = _line(made, "Dates")
    assert line.state is LineState.ADVICE
    assert words in " ".join(line.more)


def test_the_page_links_each_line_to_what_mends_it(cast: Cast) -> None:
    made = factories.release(2, publish=False)
    page = text(signed_in(cast.organiser).get(reverse("admin:problems_release_change", args=[made.pk])))
    assert reverse("admin:problems_release_act", args=[made.pk, "offer"]) in page
    assert "2 of 2 problems not verified" in page


def test_strangers_do_not_see_the_page_or_its_progress(cast: Cast, client: Any) -> None:
    made = factories.release(1, publish=False)
    part = reverse("admin:problems_release_verification", args=[made.pk])
    assert client.get(part).status_code == 302
    assert signed_in(cast.owner).get(part).status_code == 302
    clerk = factories.UserFactory(username="clerk", is_staff=True)
    assert signed_in(clerk).get(part).status_code == 403


@pytest.fixture
def frozen(cast: Cast) -> Release:
    made = factories.release(2)
    factories.judged_submission(cast.entrant, made, factories.offer(made))
    curate.freeze(cast.organiser, made)
    return made


def test_freezing_stores_each_board_with_its_digest(frozen: Release, client: Any) -> None:
    stored = BoardSnapshot.objects.get(release=frozen)
    address = reverse("snapshot", args=[frozen.slug, "cpu-test"])
    content = client.get(address).content
    assert hashlib.sha256(content).hexdigest() == stored.sha256
    board = json.loads(content)
    assert (board["release"], board["digest"], board["track"]) == (frozen.slug, frozen.digest, "cpu-test")
    assert [(row["rank"], row["entrant_slug"], row["n_solved"]) for row in board["rows"]] == [(1, "alpha", 2)]
    about = markup(client.get(reverse("release_about", args=[frozen.slug])))
    assert stored.sha256 in about
    assert address in about


def test_an_erratum_changes_the_board_and_never_the_snapshot(frozen: Release, cast: Cast, client: Any) -> None:
    address = reverse("snapshot", args=[frozen.slug, "cpu-test"])
    before = client.get(address).content
    void_problem(cast.organiser, frozen.problems.get(slug="shell-1"), "Its test accepts anything.")
    factories.rank(frozen, frozen.on_tracks.get().track)
    board = " ".join(markup(client.get(reverse("board", args=[frozen.slug]))).split())
    assert "1 of 2 problems count; 1 is voided" in board
    assert "Its test accepts anything." in board
    assert client.get(address).content == before


def test_a_snapshot_is_never_changed(frozen: Release) -> None:
    rows = BoardSnapshot.objects.filter(release=frozen)
    with pytest.raises(DatabaseError, match="never changes"), transaction.atomic():
        rows.update(sha256="0" * 64)
    with pytest.raises(DatabaseError, match="never changes"), transaction.atomic():
        rows._raw_delete(rows.db)


def test_a_release_with_open_work_is_not_frozen(cast: Cast) -> None:
    made = factories.release(2)
    factories.submission(cast.entrant, made, factories.offer(made))
    with pytest.raises(Refused, match="test-1 has 4 evaluations queued or running"):
        curate.freeze(cast.organiser, made)
    made = Release.objects.get(pk=made.pk)
    assert made.state == "published"
    assert not made.snapshots.exists()


def test_a_snapshot_of_hidden_results_is_the_organisers(frozen: Release, cast: Cast, client: Any) -> None:
    Release.objects.filter(pk=frozen.pk).update(hidden_until=timezone.now() + timedelta(days=1))
    address = reverse("snapshot", args=[frozen.slug, "cpu-test"])
    assert client.get(address).status_code == 404
    assert "Frozen boards" not in markup(client.get(reverse("release_about", args=[frozen.slug])))
    assert signed_in(cast.organiser).get(address).status_code == 200


def _mixed(n: int) -> dict[str, Any]:
    fields = factories.example_problem(n)
    fields["metadata"]["do_not_release"] = n == 1
    return fields


def test_a_redacted_export_holds_what_participants_may_read(cast: Cast) -> None:
    made = factories.release(3, problem=_mixed)
    answer = act(cast.organiser, RELEASE, "export-redacted", made)
    content = answer.getvalue()
    lines = [json.loads(line) for line in content.splitlines()]
    assert [one["task_id"] for one in lines] == ["Shell/0", "Shell/2"]
    words = content.decode()
    assert "visible test" in words
    assert "held-out words" not in words
    assert "reference words" not in words
    assert lines[0]["held_out_paths"] == ["test/t.sh"]


def test_only_organisers_export(cast: Cast) -> None:
    made = factories.release(1)
    with pytest.raises(NotAllowed):
        curate.export_redacted(cast.owner, made, io.BytesIO())


def test_a_snapshot_lies_in_the_blob_store(frozen: Release) -> None:
    stored = BoardSnapshot.objects.get(release=frozen)
    assert len(blobs.read(stored.sha256)) == stored.size_bytes
