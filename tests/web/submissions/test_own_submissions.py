"""A person's own submissions and samples, and the starter kit of a release."""

import io
import json
import zipfile
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from zeal import zeal_context

from leaderboard.intake.catalogue import catalogue_of
from leaderboard.intake.starter_kit import SAMPLE_PACK
from leaderboard.models import Submission, Track
from leaderboard.submissions import own_samples
from problems.formats.submission import read_submission
from problems.models import Problem, Release
from tests import factories
from tests.api import calls
from tests.factories import Cast
from tests.markup import markup


@pytest.fixture
def made(db: Any) -> Release:
    return factories.release()


@pytest.fixture
def track(made: Release) -> Track:
    return factories.offer(made)


def shown(client: Client, **asked: str) -> str:
    return markup(client.get(reverse("own_submissions"), asked))


def test_a_team_finds_its_submissions_and_nobody_elses(client: Client, cast: Cast, made: Release, track: Track) -> None:
    own = factories.judged_submission(cast.entrant, made, track)
    other = factories.judged_submission(cast.strangers_entrant, made, track, script="exit 1")
    client.force_login(cast.teammate)
    text = shown(client)
    assert f'<a href="{own.get_absolute_url()}">{own.pk}</a>' in text
    assert other.get_absolute_url() not in text
    assert "6 of 6" in text
    assert "hx-get" not in text


def test_filters_narrow_the_table_and_states_are_live(client: Client, cast: Cast, made: Release, track: Track) -> None:
    done = factories.judged_submission(cast.entrant, made, track)
    running: Submission = factories.submission(cast.entrant, made, track, script="exit 2")
    client.force_login(cast.owner)
    text = shown(client)
    assert 'hx-trigger="every 3s"' in text
    assert "0 of 6 done" in text
    assert running.get_absolute_url() not in shown(client, state="done")
    assert done.get_absolute_url() not in shown(client, state="accepted")
    assert "No submission of yours is like that" in shown(client, entrant="nobody")
    fragment = markup(client.get(reverse("own_submissions"), headers={"HX-Request": "true"}))
    assert fragment.startswith('<div id="own-submissions"')


def test_more_submissions_cost_no_more_queries(client: Client, cast: Cast, made: Release, track: Track) -> None:
    client.force_login(cast.owner)
    costs = []
    for n in range(3):
        factories.submission(cast.entrant, made, track, script=f"exit {n}", n_samples=1)
        if n == 1:
            continue
        with CaptureQueriesContext(connection) as queries, zeal_context():
            shown(client)
        costs.append(len(queries))
    assert costs[0] == costs[1] <= 14


def test_all_own_samples_as_json_lines(
    cast: Cast, made: Release, track: Track, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored = factories.judged_submission(cast.entrant, made, track, n_samples=1)
    factories.judged_submission(cast.strangers_entrant, made, track, script="exit 1", n_samples=1)

    def lines(**asked: Any) -> list[dict[str, Any]]:
        answer = calls.get("samples.jsonl", cast.owner, **asked)
        return [json.loads(line) for line in b"".join(answer.streaming_content).splitlines()]

    rows = lines()
    assert [row["submission"] for row in rows] == [stored.pk] * 3
    assert rows[0]["verdicts"] == {"cpu-test": "passed"}
    assert rows[0]["record"]["files"][0]["content"] == "exit 0 # solution words 0"
    assert lines(release="another") == []
    monkeypatch.setattr(own_samples.sample_lines, "__defaults__", (2,))
    first = lines()
    assert first[2] == {"more": f"?after={rows[1]['id']}"}
    assert [row["id"] for row in lines(after=rows[1]["id"])] == [rows[2]["id"]]


def kit(client: Client, made: Release) -> bytes:
    answer = client.get(reverse("starter_kit", args=[made.slug]))
    assert answer.status_code == 200
    return b"".join(answer.streaming_content)


def test_the_starter_kit_holds_what_everybody_may_read_and_a_pack_that_is_accepted(
    client: Client, made: Release, track: Track
) -> None:
    content = kit(client, made)
    archive = zipfile.ZipFile(io.BytesIO(content))
    root = f"{made.slug}-starter-kit"
    assert archive.read(f"{root}/problems/shell-0/files/test/visible.sh") == b"echo visible test\n"
    assert archive.read(f"{root}/problems/shell-0/starter/solution.sh") == b"exit 1  # your code\n"
    everything = b"".join(archive.read(name) for name in archive.namelist())
    assert b"held-out words" not in everything
    assert b"reference words" not in everything
    assert f"--track {track.slug}".encode() in archive.read(f"{root}/README.md")
    pack = io.BytesIO(archive.read(f"{root}/{SAMPLE_PACK}"))
    draft = read_submission(pack, SAMPLE_PACK, catalogue_of(made))
    assert len(draft.samples) == 3
    assert not [one.invalid_reason for one in draft.samples if one.invalid_reason]
    assert kit(client, made) == content


def test_a_problem_that_is_not_to_be_released_is_not_in_the_kit(client: Client, made: Release, track: Track) -> None:
    assert track
    made = factories.release(2, "part", publish=False)
    Problem.objects.filter(release=made, slug="shell-1").update(do_not_release=True)
    Release.objects.filter(pk=made.pk).update(state="published")
    assert "shell-1" not in " ".join(zipfile.ZipFile(io.BytesIO(kit(client, made))).namelist())


def test_those_who_may_not_read_the_problems_get_no_kit(client: Client, cast: Cast) -> None:
    made = factories.release(1, "closed", is_public=False, results_are_public=True, invited_may_read=False)
    made.invited.add(cast.owner)
    client.force_login(cast.owner)
    assert client.get(reverse("starter_kit", args=[made.slug])).status_code == 404
    assert "Starter kit" not in markup(client.get(reverse("release_about", args=[made.slug])))
    assert calls.get(f"releases/{made.slug}/starter-kit.zip", cast.owner).status_code == 404
