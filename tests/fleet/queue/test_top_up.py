"""The messages in the broker are as many as the rows that are queued, on every broker."""

import uuid
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from celery import Celery
from django.utils import timezone
from kombu import Connection, Queue

from leaderboard.actions.submissions.cancel import cancel
from leaderboard.models import Track
from runners.fleet.models import BrokerFault, Job, NodeGrant, TaskLock
from runners.fleet.queue import top_up
from runners.fleet.queue.messages import ready
from runners.fleet.queue.top_up import top_up_all
from runners.fleet.worker import pulse
from runners.fleet.worker.task_locks import FREE
from runners.wire.broker import Rarely, celery_settings
from runners.wire.protocol import Stage
from runners.wire.queues import GRADE, declared_by_site, queue_name
from tests.fleet.attempts.test_races import together
from tests.fleet.site import Site, WireNode
from tests.patience import until
from tests.requirements import RABBITMQ4_URL, RABBITMQ_URL, REDIS_URL, requires

pytestmark = [pytest.mark.django_db(transaction=True)]


def arrived(connection: Connection, queue: Queue, n: int) -> bool:
    """Whether so many messages come to be ready: RabbitMQ counts them a moment after they were sent."""
    return until(lambda: ready(connection, queue) == n)


BROKERS = [
    "filesystem://",
    pytest.param(REDIS_URL, marks=requires("redis")),
    pytest.param(RABBITMQ_URL, marks=requires("rabbitmq")),
    pytest.param(RABBITMQ4_URL, marks=requires("rabbitmq4")),
]
IDS = ["folder", "redis", "rabbitmq", "rabbitmq4"]


@pytest.fixture
def site() -> Site:
    """Its track has a name of its own, because brokers are shared."""
    made = Site.make()
    Track.objects.update(slug=f"cpu-{uuid.uuid4().hex[:8]}")
    made.track.refresh_from_db()
    return made


@pytest.fixture
def queue(site: Site) -> Queue:
    return declared_by_site(queue_name(site.track.slug, Stage.BOTH))


@pytest.fixture(params=BROKERS, ids=IDS)
def app(request: Any, tmp_path: Path) -> Celery:
    app = Celery("site", set_as_current=False, fixups=[])
    app.conf.update(celery_settings(request.param, tmp_path))
    return app


@pytest.fixture
def connection(app: Celery, queue: Queue) -> Iterator[Connection]:
    with app.connection_for_write() as opened:
        yield opened
        queue(opened.channel()).delete()


def submit(site: Site, n: int) -> Any:
    return site.submit({"a/1": [f"exit {one}" for one in range(n)], "a/2": [f"exit {one}" for one in range(n)]})


def test_each_queued_job_gets_a_message(site: Site, app: Celery, connection: Connection, queue: Queue) -> None:
    submit(site, 3)
    assert top_up_all(app) == 6
    assert arrived(connection, queue, 6)
    assert top_up_all(app) == 0
    message = queue(connection.channel()).get(no_ack=True)
    assert message is not None
    assert (message.headers["task"], message.headers["expires"]) == (GRADE, None)
    assert message.decode()[0] == [site.track.slug, "both"]


def test_messages_that_were_deleted_come_back(site: Site, app: Celery, connection: Connection, queue: Queue) -> None:
    submit(site, 3)
    top_up_all(app)
    assert arrived(connection, queue, 6)
    queue(connection.channel()).purge()
    assert top_up_all(app) == 6
    assert arrived(connection, queue, 6)


def test_a_worker_killed_while_it_publishes_stops_the_queue_for_seconds(
    site: Site, app: Celery, connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    submit(site, 1)
    held_until = []
    monkeypatch.setattr(top_up, "publish", lambda *_: held_until.append(TaskLock.objects.get().held_until))
    top_up_all(app)
    assert held_until[0] - timezone.now() <= timedelta(seconds=10)


def test_a_surplus_is_removed(site: Site, app: Celery, connection: Connection, queue: Queue) -> None:
    submission = submit(site, 3)
    top_up_all(app)
    assert arrived(connection, queue, 6)
    node = WireNode(track=site.track.slug)
    node.take_up_to(2)
    assert top_up_all(app) == 2
    assert arrived(connection, queue, 4)
    cancel(site.owner, submission)
    assert top_up_all(app) == 4
    assert arrived(connection, queue, 0)


def test_a_message_that_a_node_holds_is_not_counted(
    site: Site, app: Celery, connection: Connection, queue: Queue
) -> None:
    """Late acknowledgement: a busy node's messages are neither ready nor missing."""
    submit(site, 2)
    top_up_all(app)
    assert arrived(connection, queue, 4)
    busy = connection.channel()
    held = [queue(busy).get() for _ in range(2)]
    WireNode(track=site.track.slug).take_up_to(2)
    assert top_up_all(app) == 0
    assert arrived(connection, queue, 2)
    assert Job.objects.filter(state="queued").count() == 2
    for message in held:
        assert message is not None
        message.ack()
    assert top_up_all(app) == 0


def test_a_queue_is_declared_before_it_has_work(site: Site, app: Celery, connection: Connection, queue: Queue) -> None:
    assert top_up_all(app) == 0
    assert queue(connection.channel()).queue_declare().message_count == 0


@pytest.mark.parametrize("app", BROKERS[:1], ids=IDS[:1], indirect=True)
def test_workers_that_top_up_at_once_publish_once(
    site: Site, app: Celery, connection: Connection, queue: Queue
) -> None:
    submit(site, 10)
    changes = together(*[lambda: top_up_all(app)] * 4)
    assert sum(changes) == 20, changes
    assert arrived(connection, queue, 20)
    assert not TaskLock.objects.filter(held_until__gt=FREE).exists()


def refused(queue: Queue, app: Celery) -> Connection:
    """Another connection holds the queue for itself, so that RabbitMQ answers 405 to all others."""
    holder = app.connection_for_write()
    Queue(queue.name, exclusive=True, durable=False)(holder.channel()).declare()
    return holder


@pytest.mark.parametrize("app", BROKERS[2:], ids=IDS[2:], indirect=True)
def test_a_refused_queue_stops_no_other_and_is_told_once(
    site: Site, app: Celery, connection: Connection, queue: Queue, caplog: pytest.LogCaptureFixture
) -> None:
    free = Track.objects.create(slug=f"{site.track.slug}-free", title="Free", device="cpu")
    NodeGrant.objects.create(node=site.node, track=free, stage="both")
    other = declared_by_site(queue_name(free.slug, Stage.BOTH))
    submit(site, 1)
    holder = refused(queue, app)
    for _ in range(3):
        assert top_up_all(app) == 0
    assert arrived(connection, other, 0), "the queue after the refused one was declared"
    other(connection.channel()).delete()
    assert len([one for one in caplog.messages if queue.name in one]) == 1
    fault = BrokerFault.objects.get()
    assert (fault.queue, fault.words) == (queue.name, "it answers 405 RESOURCE_LOCKED")
    holder.release()

    def mended() -> bool:
        top_up_all(app)
        return not BrokerFault.objects.exists()

    assert until(mended)
    assert arrived(connection, queue, 2)


def elsewhere(url: str, **changes: str) -> Celery:
    """A site whose broker's address is changed in one part."""
    parts = urlsplit(url)
    account, at = changes.get("account", "guest:guest"), changes.get("at", f"{parts.hostname}:{parts.port}")
    app = Celery("site", set_as_current=False, fixups=[])
    app.conf.update(celery_settings(f"amqp://{account}@{at}/{changes.get('vhost', '/')}", Path()))
    return app


WRONG = [
    ({"account": "guest:wrong"}, "it refuses the account"),
    ({"vhost": "nowhere"}, "it has no such virtual host, or refuses the account there"),
    ({"at": "127.0.0.1:1"}, "it does not answer"),
]


@pytest.mark.parametrize("url", BROKERS[2:], ids=IDS[2:])
@pytest.mark.parametrize(("wrong", "words"), WRONG, ids=["login", "vhost", "away"])
def test_a_broker_that_lets_nobody_in_is_told_once_and_in_words(
    site: Site, url: str, wrong: dict[str, str], words: str, caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    submit(site, 1)
    monkeypatch.setattr(top_up, "_rarely", Rarely())
    app = elsewhere(url, **wrong)
    for _ in range(3):
        assert top_up_all(app) == 0
    assert len(caplog.messages) == 1, caplog.messages
    pulse.beat(app)
    since = BrokerFault.objects.get().since
    pulse.beat(app)
    assert [(one.queue, one.words, one.since) for one in BrokerFault.objects.all()] == [("", words, since)]
    pulse.beat(elsewhere(url))
    assert not BrokerFault.objects.exists()
