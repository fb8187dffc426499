"""The figures for Prometheus: what they say of a queue, and who reads them."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families

from leaderboard.models import ReleaseTrack
from problems.models import Release
from runners.fleet.models import Attempt, AttemptState, Job, JobState, Node
from runners.fleet.nodes.joining import make_token
from runners.fleet.worker import pulse
from runners.wire.protocol import Stage
from tests import factories
from tests.markup import markup

pytestmark = pytest.mark.django_db
DEPLOY = Path(__file__).resolve().parents[3] / "deploy"
TOKEN = "of-the-scraper"
QUERIES = 6


@pytest.fixture
def scraped(client: Any, settings: Any) -> Any:
    settings.METRICS_TOKEN = TOKEN

    def read() -> dict[str, dict[tuple[str, ...], float]]:
        answer = client.get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"})
        assert answer.status_code == 200
        families = text_string_to_metric_families(markup(answer))
        return {
            one.name: {tuple(value for _, value in sorted(row.labels.items())): row.value for row in one.samples}
            for one in families
        }

    return read


@pytest.fixture
def queue() -> list[Job]:
    cast = factories.Cast.make()
    release = factories.release()
    track = factories.offer(release)
    factories.submission(cast.entrant, release, track)
    return list(Job.objects.order_by("pk"))


def test_the_queue_its_nodes_and_the_boards_are_told(scraped: Any, queue: list[Job]) -> None:
    now = timezone.now()
    first, second, *_ = queue
    node = factories.NodeFactory(slug="node-a", last_seen_at=now)
    factories.NodeFactory(slug="node-b", last_seen_at=None)
    Job.objects.filter(pk=first.pk).update(queued_at=now - timedelta(seconds=100))
    Job.objects.filter(pk=second.pk).update(state="leased", queued_at=now - timedelta(seconds=40))
    Attempt.objects.create(job=second, node=node, number=1, token_digest="a", leased_at=now - timedelta(seconds=10))
    Attempt.objects.create(job=first, node=node, number=1, token_digest="b", state=AttemptState.EXPIRED,
                           leased_at=now - timedelta(seconds=30), ended_at=now)  # fmt: skip
    ReleaseTrack.objects.update(touched_at=now - timedelta(seconds=7), ranked_at=None)
    found = scraped()
    track, stage = first.track.slug, first.stage
    assert found["podium_jobs"] == {(stage, "queued", track): len(queue) - 1, (stage, "leased", track): 1}
    assert found["podium_oldest_queued_job_seconds"][stage, track] == pytest.approx(100, abs=5)
    assert found["podium_attempts_lost"] == {("node-a",): 1}
    assert found["podium_nodes"] == {("online",): 1, ("offline",): 1}
    assert found["podium_claim_wait_seconds"]["0.5",] == pytest.approx(50, abs=5)
    assert found["podium_boards_to_rank"][()] == 1
    assert found["podium_ranking_lag_seconds"][()] == pytest.approx(7, abs=5)


def test_an_empty_site_has_figures_and_few_queries(
    scraped: Any, queue: list[Job], django_assert_num_queries: Any
) -> None:
    with django_assert_num_queries(QUERIES):
        assert scraped()["podium_attempts_lost"] == {}
    Job.objects.all().delete()
    Node.objects.all().delete()
    with django_assert_num_queries(QUERIES):
        assert scraped()["podium_jobs"] == {}


def test_nobody_reads_them_without_the_token(client: Any, settings: Any) -> None:
    assert client.get("/metrics").status_code == 404, "none is configured"
    settings.METRICS_TOKEN = TOKEN
    for shown in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": TOKEN}):
        answer = client.get("/metrics", headers=shown)
        assert (answer.status_code, b"podium_jobs" in answer.content) == (403, False)
    assert client.post("/metrics").status_code == 405


def test_the_release_is_not_named(scraped: Any, queue: list[Job]) -> None:
    """Its name may be private: figures are by track and node alone."""
    assert Release.objects.get().slug not in str(scraped())


@pytest.mark.parametrize(("shown", "status"), [("", 403), ("Bearer another", 403), (f"Bearer {TOKEN}", 200)])
def test_an_autoscaler_shows_the_token(client: Any, settings: Any, queue: list[Job], shown: str, status: int) -> None:
    settings.METRICS_TOKEN = TOKEN
    address = f"/metrics/jobs?track={queue[0].track.slug}&stage=both"
    assert client.get(address, headers={"Authorization": shown}).status_code == status


def test_an_autoscaler_reads_the_jobs_of_one_queue_without_those_of_nodes_that_it_did_not_start(
    client: Any, settings: Any, queue: list[Job]
) -> None:
    settings.METRICS_TOKEN = TOKEN
    first, second, third, fourth, *others = queue
    expires_at = timezone.now() + timedelta(days=1)
    joined, _ = make_token(None, "cluster", [first.track], [Stage(first.stage)], 1, expires_at, 0.0)
    for job, by in ((first, joined), (second, None)):
        Job.objects.filter(pk=job.pk).update(state=JobState.LEASED)
        node = factories.NodeFactory(joined_by=by)
        Attempt.objects.create(job=job, node=node, number=1, token_digest=f"{job.pk}")
    Job.objects.filter(pk=fourth.pk).update(state=JobState.DONE)

    def told(track: str, stage: str) -> Any:
        address = f"/metrics/jobs?track={track}&stage={stage}"
        return client.get(address, headers={"Authorization": f"Bearer {TOKEN}"}).json()

    assert told(third.track.slug, third.stage) == {"open": 1 + 1 + len(others)}
    assert told(third.track.slug, "run") == {"open": 0}
    Job.objects.filter(state=JobState.QUEUED).update(state=JobState.DONE)
    assert told(third.track.slug, third.stage) == {"open": 0}, "nothing waits, so no node is needed beside those there"


@pytest.mark.parametrize(
    ("asked", "known"),
    [
        ("track=elsewhere", "Known here: "),
        ("stage=walk", "(missing)"),
        ("", "(missing)"),
        ("track={track}&stage=walk", "both, build, run"),
        ("track={track}", "both, build, run"),
    ],
)
def test_an_autoscaler_that_misspells_its_queue_is_told(
    client: Any, settings: Any, queue: list[Job], asked: str, known: str
) -> None:
    settings.METRICS_TOKEN = TOKEN
    address = f"/metrics/jobs?{asked.format(track=queue[0].track.slug)}"
    answer = client.get(address, headers={"Authorization": f"Bearer {TOKEN}"})
    assert (answer.status_code, answer["Content-Type"]) == (400, "text/plain")
    assert known in answer.content.decode()


def test_grafana_s_board_names_only_metrics_that_the_site_exports(scraped: Any, queue: list[Job]) -> None:
    """Each with its labels; the text of the expressions is read, so a metric in a forgotten panel counts, too."""
    board = json.loads((DEPLOY / "grafana-board.json").read_text(encoding="utf-8"))
    node = factories.NodeFactory(slug="node-a", last_seen_at=timezone.now())
    Attempt.objects.create(job=queue[0], node=node, number=1, token_digest="a", state=AttemptState.FAULTED,
                           ended_at=timezone.now())  # fmt: skip
    for n, job in enumerate(queue[1:3]):
        Attempt.objects.create(job=job, node=node, number=1, token_digest=f"b{n}")
    pulse.note(pulse.Part.WORKER)
    exported = set(scraped())
    asked = [target["expr"] for panel in board["panels"] for target in panel["targets"]]
    words = {word for expression in asked for word in split_at(expression, "() ,{}") if word.startswith("podium_")}
    assert words == exported
    uid = yaml.safe_load((DEPLOY / "grafana.yaml").read_text(encoding="utf-8"))["datasources"][0]["uid"]
    assert {panel["datasource"]["uid"] for panel in board["panels"]} == {uid}


def split_at(text: str, letters: str) -> list[str]:
    for letter in letters:
        text = text.replace(letter, " ")
    return text.split()
