"""A node fetches as many messages as it has room for, from all its queues, and a queue that is refused stops no other.

On RabbitMQ the node has an account that may only read.
"""

import logging
import re
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from celery import Celery

from runners.agent.fitness import Fitness, Obstacle
from runners.agent.stage_worker import StageWorker, make_app
from runners.fleet.queue.messages import publish, ready
from runners.wire.broker import celery_settings
from runners.wire.protocol import Stage
from runners.wire.queues import GRADE, declared_by_site, queue_name
from tests.e2e.brokers import rabbitmq_url, reader_of
from tests.patience import until
from tests.requirements import RABBITMQ4_URL, RABBITMQ_URL, REDIS_URL, requires

ROOM = 3


@dataclass
class Node:
    """Begins up to ROOM jobs, each of which lasts until `finish` is set."""

    settings: dict[str, Any]
    tracks: list[str]
    begun: list[str] = field(default_factory=list)
    finish: threading.Event = field(default_factory=threading.Event)
    ended: list[str] = field(default_factory=list)
    told: list[str] = field(default_factory=list)

    @contextmanager
    def at_work(self) -> Iterator["Node"]:
        app, stopping = make_app(self.settings), threading.Event()

        @app.task(name=GRADE, shared=False)
        def grade(track: str, stage: str) -> str:
            self.begun.append(track)
            self.finish.wait(60)
            self.ended.append(track)
            return "idle"

        def queues() -> list[str]:
            return [queue_name(one, Stage.BOTH) for one in self.tracks]

        worker = StageWorker(app, "both@node", ROOM, queues, stopping, self.told.append)
        worker.start()
        try:
            yield self
        finally:
            self.finish.set()
            stopping.set()
            worker.join()


@dataclass
class Broker:
    site: Celery
    node_settings: dict[str, Any]
    tracks: list[str] = field(default_factory=lambda: [f"inbox-{uuid.uuid4().hex[:8]}-{n}" for n in range(3)])

    def send(self, track: str, n: int) -> None:
        with self.site.connection_for_write() as connection:
            queue = declared_by_site(queue_name(track, Stage.BOTH))
            queue(connection.channel()).declare()
            publish(self.site, connection, queue, (track, Stage.BOTH), n)

    def ready(self, *tracks: str) -> int:
        with self.site.connection_for_write() as connection:
            return sum(ready(connection, declared_by_site(queue_name(one, Stage.BOTH))) for one in tracks)

    def delete(self, track: str) -> None:
        with self.site.connection_for_write() as connection:
            declared_by_site(queue_name(track, Stage.BOTH))(connection.channel()).delete()

    def node(self) -> Node:
        return Node(self.node_settings, self.tracks)


SERVERS = [
    "filesystem://",
    pytest.param(REDIS_URL, marks=requires("redis")),
    pytest.param(RABBITMQ_URL, marks=requires("rabbitmq")),
    pytest.param(RABBITMQ4_URL, marks=requires("rabbitmq4")),
]


@pytest.fixture(params=SERVERS, ids=["folder", "redis", "rabbitmq", "rabbitmq4"])
def broker(request: Any, tmp_path: Path) -> Iterator[Broker]:
    server: str = request.param
    site = Celery("site", set_as_current=False, fixups=[])
    if not server.startswith("amqp"):
        site.conf.update(celery_settings(server, tmp_path))
        made = Broker(site, celery_settings(server, tmp_path))
        yield made
        for track in made.tracks:
            made.delete(track)
        return
    with rabbitmq_url(server) as url, reader_of(url) as own_url:
        site.conf.update(celery_settings(url, tmp_path))
        yield Broker(site, celery_settings(own_url, tmp_path))


def test_a_busy_node_holds_as_many_messages_as_it_has_room_for_over_all_its_tracks(broker: Broker) -> None:
    for track in broker.tracks:
        broker.send(track, 4)
    with broker.node().at_work() as node:
        assert until(lambda: len(node.begun) == ROOM)
        assert set(node.begun) == set(broker.tracks), "the tracks take turns"
        assert until(lambda: broker.ready(*broker.tracks) == 12 - ROOM)
        with broker.node().at_work() as other:
            assert until(lambda: len(other.begun) == ROOM), "the first node keeps none of what it cannot begin"
            assert until(lambda: broker.ready(*broker.tracks) == 12 - 2 * ROOM)
            other.finish.set()
            assert until(lambda: len(other.ended) == 12 - ROOM)
        assert len(node.begun) == ROOM
        assert broker.ready(*broker.tracks) == 0
        node.finish.set()
        assert until(lambda: len(node.ended) == ROOM)
    assert broker.ready(*broker.tracks) == 0, "each message was acknowledged when its job had ended"


def test_one_track_may_use_all_of_a_nodes_room(broker: Broker) -> None:
    broker.send(broker.tracks[1], 4)
    with broker.node().at_work() as node:
        assert until(lambda: node.begun == [broker.tracks[1]] * ROOM)
        assert until(lambda: broker.ready(broker.tracks[1]) == 1)


def test_a_queue_that_is_missing_stops_no_other_and_is_told_once(
    broker: Broker, caplog: pytest.LogCaptureFixture
) -> None:
    broker.send(broker.tracks[1], 2)
    with caplog.at_level(logging.WARNING), broker.node().at_work() as node:
        assert until(lambda: len(node.begun) == 2)
        broker.send(broker.tracks[0], 1)
        assert until(lambda: len(node.begun) == 3), "it is asked again"
    assert len([one for one in caplog.messages if broker.tracks[0] in one]) <= 1


def test_a_queue_that_is_deleted_takes_no_other_queues_messages_with_it(broker: Broker) -> None:
    broker.send(broker.tracks[0], 1)
    broker.send(broker.tracks[1], 1)
    with broker.node().at_work() as node:
        assert until(lambda: len(node.begun) == 2)
        broker.delete(broker.tracks[0])
        threading.Event().wait(1.5)  # it asks each queue again meanwhile
        assert broker.ready(broker.tracks[1]) == 0
        node.finish.set()
        assert until(lambda: len(node.ended) == 2)
        threading.Event().wait(0.5)
    assert broker.ready(broker.tracks[1]) == 0


@pytest.mark.parametrize("broker", SERVERS[2:], ids=["rabbitmq", "rabbitmq4"], indirect=True)
def test_a_node_whose_account_is_refused_says_so_once_and_works_when_it_is_let_in(
    broker: Broker, caplog: pytest.LogCaptureFixture
) -> None:
    broker.send(broker.tracks[0], 1)
    url = broker.node_settings["broker_url"]
    wrong = broker.node_settings | {"broker_url": re.sub(":[^:@/]+@", ":wrong@", url)}
    with caplog.at_level(logging.WARNING), Node(wrong, broker.tracks).at_work() as node:
        assert until(lambda: len(node.told) >= 2)
        assert set(node.told) == {"it refuses the account"}
    assert len([one for one in caplog.messages if "ACCESS_REFUSED" in one]) == 1
    with broker.node().at_work() as node:
        assert until(lambda: len(node.begun) == 1)
        assert node.told == [""]


def test_the_site_is_told_why_a_node_cannot_use_the_broker() -> None:
    fitness = Fitness()
    fitness.put(Obstacle.BROKER, "it refuses the account")
    assert not fitness.is_fit
    assert fitness.words_for_site == "it cannot use the broker: it refuses the account"
