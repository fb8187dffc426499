"""Replies graded by a site: submissions that are not counted, and faults that are no verdicts."""

import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.urls import reverse

from leaderboard.models import Submission
from podium.verifiers import site_judging
from podium.verifiers.rulings import JudgingFault
from podium.verifiers.site_judging import SiteJudge
from runners.wire.protocol import Verdict
from tests import factories
from tests.formats.verifiers_files import row_016, write
from tests.podium_cli.test_remote import Shell

pytestmark = pytest.mark.django_db(transaction=True)
REPLY = "```sh\n# file: solution.sh\nexit 0\n```"


@pytest.fixture
def judge(live_server: Any, cast: Any, monkeypatch: pytest.MonkeyPatch) -> SiteJudge:
    """A judge whose waiting is a node's work: Shell/0 passes, Shell/1 fails, Shell/2 is the platform's fault."""
    made = factories.release(3)
    track = factories.offer(made)
    monkeypatch.setenv("PODIUM_SITE_URL", live_server.url)
    monkeypatch.setenv("PODIUM_TOKEN", factories.token(cast.owner))
    verdicts = {"Shell/0": Verdict.PASSED, "Shell/1": Verdict.TEST_FAILED, "Shell/2": Verdict.PLATFORM_ERROR}

    def work(_seconds: float) -> None:
        for one in Submission.objects.filter(state="accepted"):
            factories.judge(one, lambda evaluation: factories.report(verdicts[evaluation.problem.task_id]))

    monkeypatch.setattr(site_judging, "time", SimpleNamespace(sleep=work, monotonic=time.monotonic))
    return SiteJudge(made.slug, "alpha", track.slug, 4)


def test_a_reply_becomes_an_uncounted_submission_and_its_verdict_comes_back(judge: SiteJudge) -> None:
    assert list(judge.asked) == ["Shell/0", "Shell/1", "Shell/2"]
    assert judge.rule("Shell/0", REPLY, "stop").passed
    failed = judge.rule("Shell/1", REPLY, "stop")
    assert (failed.passed, failed.verdict) == (False, "test_failed")
    assert not Submission.objects.filter(asks_to_count=True).exists()


def test_the_platforms_fault_is_raised(judge: SiteJudge) -> None:
    with pytest.raises(JudgingFault, match="platform_error"):
        judge.rule("Shell/2", REPLY, "stop")


def test_an_import_for_a_release_is_sent_and_its_rollouts_are_shown(
    live_server: Any, cast: Any, client: Any, tmp_path: Path
) -> None:
    made = factories.release(3)
    factories.offer(made)
    shell = Shell(tmp_path, {"PODIUM_SITE_URL": live_server.url, "PODIUM_TOKEN": factories.token(cast.owner)})
    names = [f"Shell/{at % 3}" for at in range(6)]
    file = write(tmp_path, [row_016(at, f"question {at}", REPLY, {"task_id": name}) for at, name in enumerate(names)])
    pack = str(tmp_path / "m-solutions.tar.gz")
    done = shell.run("verifiers", "import", str(file), "--release", made.slug, "--out", pack)
    assert done.returncode == 0, done.stderr
    sent = shell.run("submit", pack, "--release", made.slug, "--entrant", "alpha")
    assert sent.returncode == 0, sent.stderr
    stored = Submission.objects.get()
    assert (stored.is_full, stored.samples.count()) == (True, 6)
    factories.judge(stored)
    client.force_login(cast.owner)
    shown = client.get(reverse("rollouts", args=[stored.pk], query={"problem": made.problems.first().slug}))
    assert "question 3" in shown.content.decode()


def test_a_refusal_of_the_site_is_raised(judge: SiteJudge, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(judge._order, "entrant", "strangers-model")
    with pytest.raises(JudgingFault, match="the site gave no verdict"):
        judge.rule("Shell/0", REPLY, "stop")


def test_a_reply_without_code_is_not_sent(judge: SiteJudge) -> None:
    assert judge.rule("Shell/0", "", "stop").verdict == "invalid"
    assert not Submission.objects.exists()
