"""Which policy a release's questions have, and what publishing, freezing and the next revision ask of it."""

from datetime import timedelta
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse
from django.utils import timezone

from leaderboard.actions.curation import curate
from leaderboard.curation.checklist import LineState, checklist
from leaderboard.errors import Refused
from podium.generation.errors import CannotGenerate
from podium.verifiers.site_judging import SiteJudge
from problems.actions import releases as release_actions
from problems.actions.drafts import next_revision
from problems.actions.releases import ReleaseRefused
from problems.models import Release
from tests import factories, packs, question_site
from tests.admin.pages import opened
from tests.factories import Cast
from tests.podium_cli.test_remote import Shell
from tests.sealed.site import ASKED, in_a_month, reveal, sealed_release

pytestmark = pytest.mark.django_db


def _draft(name: str = "other-1", **metadata: Any) -> Release:
    return release_actions.import_release(packs.problem_pack(ASKED, name, ks=[1], **metadata)).release


@pytest.mark.parametrize(("metric", "policy"), [("pass@1", "sealed"), ("questions", "sealed"), ("coding", "practice")])
def test_questions_are_sealed_where_they_rank(metric: str, policy: str) -> None:
    draft = _draft(primary_metric=metric)
    draft.reveals_at = in_a_month()
    draft.save()
    release_actions.publish(draft)
    assert draft.question_policy == policy


def test_a_release_without_questions_has_nothing_to_seal() -> None:
    assert factories.release(1).question_policy == "practice"


@pytest.mark.parametrize("days", [None, -1])
def test_publishing_sealed_questions_needs_a_time_to_reveal_them(days: int | None) -> None:
    draft = _draft()
    draft.reveals_at = None if days is None else timezone.now() + timedelta(days=days)
    draft.save()
    with pytest.raises(ReleaseRefused, match="set `reveals at` to a later time"):
        release_actions.publish(draft)
    line = next(one for one in checklist(draft) if one.title == "Questions")
    assert line.state is LineState.OPEN


def test_the_command_publishes_with_a_policy_or_a_time() -> None:
    for name, options in (("a-1", ["--questions", "practice"]), ("b-1", ["--reveals-at", "2099-01-01T12:00Z"])):
        draft = _draft(name)
        curate.offer(None, draft, factories.TrackFactory())
        call_command("publish_release", draft.slug, "--unverified", "a test", *options)
    assert list(Release.objects.order_by("pk").values_list("question_policy", flat=True)) == ["practice", "sealed"]
    assert Release.objects.get(slug="b-1").reveals_at is not None
    with pytest.raises(CommandError, match="no time"):
        call_command("publish_release", "b-1", "--reveals-at", "tomorrow")
    with pytest.raises(CommandError, match="no draft"):
        call_command("publish_release", "b-1", "--questions", "practice")


def test_several_samples_rank_only_where_a_sealed_question_takes_as_many() -> None:
    draft = _draft(primary_metric="pass@2")
    draft.reveals_at = in_a_month()
    draft.save()
    with pytest.raises(ReleaseRefused, match="sealed questions take 1 replies"):
        release_actions.publish(draft)
    draft.question_samples = 2
    draft.save()
    release_actions.publish(draft)


@pytest.mark.parametrize(("policy", "days", "is_refused"), [("practice", 0, True), ("", 10, True), ("", 40, False)])
def test_no_other_release_tells_a_sealed_question_earlier(policy: str, days: int, is_refused: bool) -> None:
    next_revision(sealed_release())  # a draft keeps nobody from telling
    draft = _draft()
    draft.question_policy, draft.reveals_at = policy, timezone.now() + timedelta(days=days)
    draft.save()
    if is_refused:
        with pytest.raises(ReleaseRefused, match="is a sealed question of test-1 until"):
            release_actions.publish(draft)
    else:
        release_actions.publish(draft)


def test_the_checklist_warns_of_questions_that_are_told_elsewhere() -> None:
    question_site.release(question_site.choice("ask/1", group="ch2"), name="practice-1")
    draft = _draft()
    draft.reveals_at = in_a_month()
    draft.save()
    line = next(one for one in checklist(draft) if one.title == "Questions")
    assert (line.state, "1 are told by another release" in line.detail) == (LineState.ADVICE, True)


def test_the_next_revision_is_sealed_as_long() -> None:
    made = sealed_release()
    draft = next_revision(made)
    assert (draft.question_policy, draft.reveals_at) == ("sealed", made.reveals_at)
    practice = question_site.release(question_site.choice("other"), name="other-1")
    assert next_revision(practice).question_policy == "practice"


def test_a_release_is_frozen_with_its_questions(cast: Cast) -> None:
    made = sealed_release()
    with pytest.raises(Refused, match="Freeze it after `reveals at`"):
        curate.freeze(cast.organiser, made)
    reveal(made)
    curate.freeze(cast.organiser, made)


def test_the_time_may_be_moved_until_it_has_come(client: Any, cast: Cast) -> None:
    made = sealed_release()
    draft = _draft()
    draft.reveals_at = timezone.now() + timedelta(days=50)
    draft.save()
    release_actions.publish(draft)  # it has the same questions
    client.force_login(cast.organiser)
    address = reverse("admin:problems_release_change", args=[made.pk])

    def saved(when: Any) -> str:
        form = {"title": "T", "is_public": "on", "max_samples": "20"}
        form["reveals_at"] = f"{when:%Y-%m-%dT%H:%M:%S}" if when else ""
        answer = client.post(address, form | opened(client, address))
        return "saved" if answer.status_code == 302 else answer.content.decode()

    assert "Say when what rests on them is shown" in saved(None)
    assert "is a sealed question of other-1 until" in saved(in_a_month() + timedelta(days=1))
    assert saved(timezone.now() + timedelta(days=60)) == "saved"
    made.refresh_from_db()
    assert made.reveals_at and made.reveals_at > timezone.now() + timedelta(days=59)
    reveal(made)
    assert saved(made.reveals_at) == "saved"
    assert "Nothing of it is sealed any more" in saved(timezone.now() + timedelta(days=70))


@pytest.mark.django_db(transaction=True)
def test_training_against_sealed_questions_is_refused_at_its_start(
    live_server: Any, cast: Cast, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    made = sealed_release()
    track = factories.offer(made)
    settings = {"PODIUM_SITE_URL": live_server.url, "PODIUM_TOKEN": factories.token(cast.owner)}
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(CannotGenerate, match="are sealed until"):
        SiteJudge(made.slug, "alpha", track.slug, 4)
    shell = Shell(tmp_path, settings)
    for command in (["tasks"], ["judge", "--entrant", "alpha", "--track", track.slug]):
        refused = shell.run("verifiers", *command, "--release", made.slug)
        assert (refused.returncode, refused.stdout) == (2, "")
        assert "the questions of test-1 are sealed until" in refused.stderr
    reveal(made)
    assert len(shell.run("verifiers", "tasks", "--release", made.slug).stdout.splitlines()) == 6
    SiteJudge(made.slug, "alpha", track.slug, 4)
