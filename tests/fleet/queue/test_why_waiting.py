"""The reason why work does not move: one sentence for the command, the submission's page and the page of the fleet."""

from datetime import timedelta
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db.models import F
from django.test import Client
from django.utils import timezone

from leaderboard.models import Submission
from runners.fleet.models import Attempt, BrokerFault, Job, Node, NodeGrant, Pulse
from runners.fleet.worker import pulse
from runners.fleet.worker.score import score_reported
from tests.fleet.site import NODE_TOKEN, Site, WireNode, add_node
from tests.markup import markup

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


@pytest.fixture
def site() -> Site:
    """Its worker runs, and its node is online."""
    for part in pulse.Part:
        pulse.note(part)
    made = Site.make()
    Node.objects.update(last_seen_at=timezone.now())
    return made


@pytest.fixture
def submission(site: Site) -> Submission:
    return site.submit({"a/1": ["exit 0", "exit 1"], "a/2": ["exit 0"]})


def said(submission: Submission, capsys: pytest.CaptureFixture[str]) -> str:
    """The sentence that the command tells. Pages tell it too."""
    call_command("why", str(submission.pk))
    counts, *sentences = capsys.readouterr().out.splitlines()
    assert counts.startswith(f"Submission {submission.pk}: ")
    (sentence,) = sentences
    client = Client()
    client.force_login(submission.entrant.owner)
    shown = markup(client.get(f"/submissions/{submission.pk}/progress/")).replace("&#x27;", "'")
    assert f">{sentence}</p>" in shown
    fleet = markup(client.get("/nodes/")).replace("&#x27;", "'")
    assert f">{sentence.partition(';')[0]}" in fleet
    return sentence


def test_a_free_node_takes_it_soon(submission: Submission, capsys: pytest.CaptureFixture[str]) -> None:
    assert said(submission, capsys) == "A node takes it within seconds; 0 jobs of others come first."


def test_a_free_node_that_takes_nothing_is_to_be_looked_at(
    submission: Submission, capsys: pytest.CaptureFixture[str]
) -> None:
    Job.objects.update(queued_at=timezone.now() - timedelta(minutes=4, seconds=1))
    words = "1 node could take track cpu-test and took nothing for 4 min 1 s: the log of a node says why."
    assert said(submission, capsys) == words


def test_a_busy_node_has_a_place_and_an_expected_wait(
    site: Site, submission: Submission, capsys: pytest.CaptureFixture[str]
) -> None:
    node = WireNode()
    node.hello()
    done, *_ = node.take_up_to(3)
    site.submit({"a/1": ["exit 3"], "a/2": ["exit 3"]})
    last = site.submit({"a/1": ["exit 4"], "a/2": ["exit 4"]})
    begins = "1 node of track cpu-test works on 3 jobs; 1 job of others comes first, "
    assert said(last, capsys) == f"{begins}how long one takes is not known yet."
    node.report(done)
    Attempt.objects.filter(pk=done["attempt"]).update(leased_at=F("ended_at") - timedelta(seconds=50))
    assert said(last, capsys) == f"{begins.replace('3 jobs', '2 jobs')}the expected wait is 50 s."


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        (
            {"service": "draining", "disabled_reason": "a new driver"},
            "No node takes track cpu-test now: node-1 is draining (a new driver).",
        ),
        (
            {"service": "maintenance", "disabled_reason": "moved", "back_at": "2031-02-03T04:05:00Z"},
            "No node takes track cpu-test now: node-1 is in maintenance until 2031-02-03 04:05 UTC (moved).",
        ),
        (
            {"service": "disabled", "disabled_reason": "drained: GPU 0 is lost"},
            "No node takes track cpu-test now: node-1 is disabled (drained: GPU 0 is lost).",
        ),
        (
            {"obstacle": "its disk is too full: 3 MiB are free"},
            "No node takes track cpu-test now: node-1 takes no work (its disk is too full: 3 MiB are free).",
        ),
        ({"last_seen_at": None}, "No node takes track cpu-test now: node-1 was never seen."),
    ],
    ids=["draining", "maintenance", "ill", "full", "away"],
)
def test_a_node_that_takes_no_work_says_why(
    changed: dict[str, Any], words: str, submission: Submission, capsys: pytest.CaptureFixture[str]
) -> None:
    Node.objects.update(**changed)
    assert said(submission, capsys) == words


def test_one_node_of_several_is_enough(site: Site, submission: Submission, capsys: pytest.CaptureFixture[str]) -> None:
    Node.objects.update(obstacle="a fault is followed by a self-test")
    for n in range(4):
        add_node(f"node-{n + 2}", site.track, f"{NODE_TOKEN}-{n}")
    told = said(submission, capsys)
    assert told.count("was never seen") == 2
    assert told.endswith("; and 2 more.")
    Node.objects.filter(slug="node-5").update(last_seen_at=timezone.now())
    assert said(submission, capsys).startswith("A node takes it within seconds")


def test_a_node_that_does_not_fit_says_why(
    site: Site, submission: Submission, capsys: pytest.CaptureFixture[str]
) -> None:
    site.track.image = "sha256:0"
    site.track.save()
    misfit = "the track names an image, and its sandbox is not known"
    assert said(submission, capsys) == f"No node takes track cpu-test now: node-1 does not fit ({misfit})."


def test_no_node_is_granted_the_track(submission: Submission, capsys: pytest.CaptureFixture[str]) -> None:
    NodeGrant.objects.all().delete()
    assert said(submission, capsys) == "No node takes track cpu-test: none is granted it."
    NodeGrant.objects.all().delete()
    Job.objects.update(stage="build")
    assert said(submission, capsys) == "No node takes stage build of track cpu-test: none is granted it."


def test_a_worker_that_is_dead_is_told_before_all_else(
    submission: Submission, capsys: pytest.CaptureFixture[str]
) -> None:
    NodeGrant.objects.all().delete()
    at = timezone.now() - timedelta(minutes=3, seconds=1)
    Pulse.objects.filter(name="worker").update(at=at)
    moment = f"{at:%Y-%m-%d %H:%M} UTC"
    assert said(submission, capsys) == f"The site's worker has stopped: it was last seen 3 min 1 s ago, at {moment}."
    Pulse.objects.all().delete()
    assert said(submission, capsys) == "The site's worker has never run."


def test_a_worker_whose_tasks_stand_still(submission: Submission, capsys: pytest.CaptureFixture[str]) -> None:
    Pulse.objects.filter(name="tasks").update(at=timezone.now() - timedelta(minutes=3))
    assert said(submission, capsys).startswith(
        "The periodic work of the site's worker has stopped: it was last seen 3 min"
    )


def test_a_broker_that_refuses(submission: Submission, capsys: pytest.CaptureFixture[str]) -> None:
    since = timezone.now() - timedelta(hours=1)
    moment = f"{since:%Y-%m-%d %H:%M} UTC"
    queue = BrokerFault.objects.create(
        queue="track.cpu-test.both", words="it answers 406 PRECONDITION_FAILED", since=since
    )
    words = f"The broker refuses the queue track.cpu-test.both since {moment}: it answers 406 PRECONDITION_FAILED."
    assert said(submission, capsys) == words
    BrokerFault.objects.create(queue="", words="it does not answer", since=since)
    Pulse.objects.filter(name="tasks").update(at=since)
    assert said(submission, capsys) == f"The site cannot use its broker since {moment}: it does not answer."
    queue.delete()


def test_a_submission_that_is_done_waits_for_nothing(
    submission: Submission, capsys: pytest.CaptureFixture[str]
) -> None:
    node = WireNode()
    node.hello()
    for work in node.take_up_to(3):
        node.report(work)
    call_command("why", str(submission.pk))
    assert capsys.readouterr().out == f"Submission {submission.pk}: 0 queued, 0 running.\n"


def test_results_that_are_in_say_that_their_scores_wait_for_the_worker(
    submission: Submission, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.fleet.site.score_reported", lambda: 0)
    node = WireNode()
    node.hello()
    *most, last = node.take_up_to(3)
    for work in most:
        node.report(work)
    call_command("why", str(submission.pk))
    assert capsys.readouterr().out == f"Submission {submission.pk}: 0 queued, 1 running.\n"
    node.report(last)
    assert told_of_scores(submission, capsys) == "All results are in; their scores follow within seconds."
    Pulse.objects.all().delete()
    words = "All results are in, and scores follow when the site's worker answers again."
    assert told_of_scores(submission, capsys) == f"{words} The site's worker has never run."
    pulse.note(pulse.Part.WORKER)
    BrokerFault.objects.create(queue="", words="it does not answer", since=timezone.now())
    assert f"{words} The site cannot use its broker since " in told_of_scores(submission, capsys)
    monkeypatch.undo()
    score_reported()
    call_command("why", str(submission.pk))
    assert capsys.readouterr().out == f"Submission {submission.pk}: 0 queued, 0 running.\n"


def test_the_grants_of_a_node_are_told_in_words(site: Site) -> None:
    for address in ("/nodes/", "/nodes/node-1/"):
        shown = markup(Client().get(address))
        assert f"<code>{site.track.slug}</code>" in shown
        assert "build and run" in shown


def told_of_scores(submission: Submission, capsys: pytest.CaptureFixture[str]) -> str:
    """The sentence that the command tells and the page, which asks again."""
    call_command("why", str(submission.pk))
    counts, sentence = capsys.readouterr().out.splitlines()
    assert counts == f"Submission {submission.pk}: 0 queued, 0 running."
    client = Client()
    client.force_login(submission.entrant.owner)
    shown = markup(client.get(submission.get_absolute_url())).replace("&#x27;", "'")
    assert f">{sentence}</p>" in shown
    assert f'hx-get="/submissions/{submission.pk}/progress/"' in shown
    return sentence


def test_a_submission_that_does_not_exist(site: Site) -> None:
    with pytest.raises(CommandError, match="There is no submission 4711: its number is in its page's address"):
        call_command("why", "4711")
