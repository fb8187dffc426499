"""Failures by their first message: of a submission for its team, of a release for organisers alone."""

import gzip
import re
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from zeal import zeal_context

from leaderboard import blobs
from leaderboard.actions.submissions.cancel import cancel
from leaderboard.models import Evaluation, Submission, Track
from leaderboard.models.submissions.evaluation import ResultOrigin
from leaderboard.results import failures
from leaderboard.rows.origin import Origin
from leaderboard.rows.results import append_result
from problems.models import Release
from runners.wire.protocol import BlobRef, LogText, Report, StepReport, Verdict
from tests import factories
from tests.factories import Cast
from tests.markup import markup

BUILD_ERROR = 'solution.cu({n}): error: identifier "v{n}" is undefined'
HELD_OUT = "held-out case {n} expected 3.5, got 4"


def failing(verdict: Verdict, step: str, log: LogText) -> Report:
    made = factories.report(verdict)
    return made.model_copy(update={"reason": "The words of the reason.", "steps": [StepReport(name=step, log=log)]})


def build_fails(evaluation: Evaluation) -> Report:
    return failing(Verdict.BUILD_FAILED, "build", LogText(text="nvcc …\n" + BUILD_ERROR.format(n=evaluation.pk)))


def its_test_fails(evaluation: Evaluation) -> Report:
    return failing(Verdict.TEST_FAILED, "test", LogText(text="FAIL " + HELD_OUT.format(n=evaluation.pk)))


def mixed(evaluation: Evaluation) -> Report:
    """Problem 0 fails to build, problem 1 its test; problem 2 passes."""
    kinds = {"shell-0": build_fails, "shell-1": its_test_fails}
    judged = kinds.get(evaluation.problem.slug)
    return judged(evaluation) if judged else factories.report()


@pytest.fixture
def made(db: Any) -> Release:
    found = factories.release()
    factories.offer(found)
    return found


@pytest.fixture
def track(made: Release) -> Track:
    return made.on_tracks.get().track


@pytest.fixture
def stored(cast: Cast, made: Release, track: Track) -> Submission:
    return factories.judged_submission(cast.entrant, made, track, mixed, n_samples=3)


def text(client: Client, path: str) -> str:
    answer = client.get(path)
    assert answer.status_code == 200, path
    return markup(answer)


def of_submission(stored: Submission) -> str:
    return reverse("submission_failures", args=[stored.pk])


def of_release(made: Release) -> str:
    return reverse("release_failures", args=[made.slug])


def clusters_in(page: str) -> list[tuple[str, int]]:
    """Message and number of failures of each row."""
    rows = re.findall(r'message"><code>(.*?)</code>.*?<td class="num">(\d+)</td>', page, re.DOTALL)
    return [(message.replace("&lt;", "<").replace("&gt;", ">"), int(n)) for message, n in rows]


BUILD_CLUSTER = ("<path>(<n>): error: identifier <name> is undefined", 3)


def test_a_team_sees_build_errors_and_reasons_and_nothing_of_the_tests_output(
    client: Client, cast: Cast, stored: Submission
) -> None:
    for user in (cast.owner, cast.teammate):
        client.force_login(user)
        shown = text(client, of_submission(stored))
        assert clusters_in(shown) == [BUILD_CLUSTER, ("The words of the reason.", 3)]
        assert "held-out case" not in shown


def test_an_organiser_sees_the_tests_output(client: Client, cast: Cast, stored: Submission) -> None:
    client.force_login(cast.organiser)
    tested = ("FAIL held-out case <n> expected <n>, got <n>", 3)
    assert clusters_in(text(client, of_submission(stored))) == [BUILD_CLUSTER, tested]
    assert clusters_in(text(client, of_release(stored.release))) == [BUILD_CLUSTER, tested]


@pytest.mark.parametrize("who", [None, "stranger"])
def test_others_see_no_failures_even_of_published_code(
    client: Client, cast: Cast, stored: Submission, who: str | None
) -> None:
    cast.entrant.publishes_code = True
    cast.entrant.save()
    if who:
        client.force_login(getattr(cast, who))
    assert client.get(of_submission(stored)).status_code == 404
    assert client.get(of_release(stored.release)).status_code == 404
    assert "failures by first message" not in text(client, stored.get_absolute_url())


def test_a_release_is_clustered_across_entrants(
    client: Client, cast: Cast, made: Release, track: Track, stored: Submission
) -> None:
    other = factories.judged_submission(cast.strangers_entrant, made, track, mixed, n_samples=2)
    withdrawn = factories.submission(cast.strangers_entrant, made, track, n_samples=1)
    evaluation = withdrawn.evaluations.first()
    append_result(evaluation, build_fails(evaluation), Origin(ResultOrigin.FLEET))
    cancel(cast.stranger, withdrawn)
    client.force_login(cast.organiser)
    shown = text(client, of_release(made))
    assert clusters_in(shown)[0] == (BUILD_CLUSTER[0], 5)
    assert all(f"#{one.pk}</small>" in shown for one in (stored, other))
    assert "Problem number 0</a>&nbsp;(5)" in shown


def test_a_row_leads_to_its_samples(client: Client, cast: Cast, stored: Submission) -> None:
    client.force_login(cast.owner)
    address = re.findall(
        r'href="(/submissions/\d+/rollouts/\?[^"]*cluster=[^"]+)"', text(client, of_submission(stored))
    )
    shown = text(client, address[0].replace("&amp;", "&"))
    assert "Problem number 0</a>" in shown
    assert "Problem number 1</a>" not in shown
    assert "Only samples that failed with this first message" in shown


def test_a_cluster_of_the_tests_output_tells_a_team_nothing(client: Client, cast: Cast, stored: Submission) -> None:
    client.force_login(cast.organiser)
    addresses = re.findall(
        r'href="(/submissions/\d+/rollouts/\?[^"]*cluster=[^"]+)"', text(client, of_submission(stored))
    )
    tested = addresses[1].replace("&amp;", "&")
    assert "held-out case" in text(client, tested)
    client.force_login(cast.owner)
    shown = text(client, tested)
    assert "held-out case" not in shown
    assert "No sample fits" in shown
    client.logout()
    assert "Problem number 2</a>" in text(client, tested)


def in_a_blob(words: str) -> LogText:
    content = gzip.compress(words.encode())
    return LogText(text="", blob=BlobRef(sha256=blobs.store().put(content), size_bytes=len(content)))


def test_long_logs_are_read_for_organisers_up_to_a_bound(
    client: Client, cast: Cast, made: Release, track: Track, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = in_a_blob("nvcc …\nsolution.cu(1): error: too long a story\n" + "x" * 20_000)
    stored = factories.judged_submission(
        cast.entrant, made, track, lambda _: failing(Verdict.BUILD_FAILED, "build", log), n_samples=1
    )
    monkeypatch.setattr(failures, "MAX_BLOBS", 2)
    client.force_login(cast.organiser)
    shown = text(client, of_submission(stored))
    assert clusters_in(shown) == [("<path>(<n>): error: too long a story", 2), ("The words of the reason.", 1)]
    assert "1 long log was not read" in shown
    client.force_login(cast.owner)
    assert clusters_in(text(client, of_submission(stored))) == [("The words of the reason.", 3)]


def test_only_the_newest_failures_are_read_and_the_page_says_so(
    client: Client, cast: Cast, stored: Submission, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(failures, "MAX_FAILURES", 4)
    client.force_login(cast.owner)
    shown = text(client, of_submission(stored))
    assert sum(n for _, n in clusters_in(shown)) == 4
    assert "failures were read" in shown


def test_passes_and_skips_are_no_failures_and_a_platform_error_is(
    client: Client, cast: Cast, made: Release, track: Track
) -> None:
    outcomes = {"shell-0": Verdict.SKIPPED, "shell-1": Verdict.PLATFORM_ERROR, "shell-2": Verdict.PASSED}
    stored = factories.judged_submission(
        cast.entrant, made, track, lambda one: factories.report(outcomes[one.problem.slug]), n_samples=1
    )
    client.force_login(cast.owner)
    assert clusters_in(text(client, of_submission(stored))) == [("first failure words", 1)]


def test_more_failures_cost_no_more_queries(client: Client, cast: Cast, made: Release, track: Track) -> None:
    client.force_login(cast.organiser)
    costs = []
    for entrant, n in ((cast.entrant, 1), (cast.strangers_entrant, 8)):
        factories.judged_submission(entrant, made, track, mixed, n_samples=n)
        with CaptureQueriesContext(connection) as queries, zeal_context():
            text(client, of_release(made))
        costs.append(len(queries))
    assert costs[0] == costs[1] <= 15
