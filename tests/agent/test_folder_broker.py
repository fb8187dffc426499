"""The folder broker: a message is there whole or not at all, and a damaged file is no message."""

from pathlib import Path
from queue import Empty
from threading import Event, Thread
from typing import Any

import pytest
from celery import Celery
from kombu import Connection
from kombu.exceptions import ChannelError

from runners.wire.broker import celery_settings
from runners.wire.queues import GRADE

QUEUE = "track.cpu.both"


def connection(folder: Path) -> Connection:
    settings = celery_settings("filesystem://", folder)
    return Connection(settings["broker_url"], transport_options=settings["broker_transport_options"])


def test_what_is_put_is_got(tmp_path: Path) -> None:
    with connection(tmp_path) as broker, broker.SimpleQueue(QUEUE) as queue:
        queue.put({"track": "cpu"}, serializer="json")
        assert queue.get(timeout=5).payload == {"track": "cpu"}


def test_a_folder_needs_no_host_name(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    app = Celery("ringer", set_as_current=False, fixups=[])
    app.conf.update(celery_settings("filesystem://", tmp_path))
    with caplog.at_level("WARNING"):
        app.send_task(GRADE, args=["cpu", "both"], queue=QUEUE)
    assert caplog.messages == []
    with connection(tmp_path) as broker, broker.SimpleQueue(QUEUE) as queue:
        assert queue.get(timeout=5).headers["task"] == GRADE


def test_two_folders_of_one_process_know_nothing_of_each_other(tmp_path: Path) -> None:
    for name in ("one", "other"):
        with connection(tmp_path / name) as broker, broker.SimpleQueue(QUEUE) as queue:
            queue.put({"folder": name}, serializer="json")
            assert queue.get(timeout=5).payload == {"folder": name}


def test_a_damaged_message_is_dropped(tmp_path: Path) -> None:
    with connection(tmp_path) as broker:
        channel: Any = broker.default_channel
        channel._put(QUEUE, {"number": 1})
        (message,) = (Path(channel.data_folder_in) / QUEUE).iterdir()
        message.write_bytes(b"")
        with pytest.raises(Empty):
            channel._get(QUEUE)


def test_a_queue_is_not_found_until_it_is_declared_and_then_counts_its_messages(tmp_path: Path) -> None:
    with connection(tmp_path) as broker:
        channel: Any = broker.default_channel
        with pytest.raises(ChannelError, match="NOT_FOUND"):
            channel.queue_declare(QUEUE, passive=True)
        channel.queue_declare(QUEUE)
        for number in range(3):
            channel._put(QUEUE, {"number": number})
        assert channel.queue_declare(QUEUE, passive=True).message_count == 3
        assert channel.queue_declare("track.cpu.bothersome").message_count == 0
        assert channel.queue_purge(QUEUE) == 3
        assert channel.queue_declare(QUEUE, passive=True).message_count == 0


def test_two_readers_of_a_queue_share_its_messages(tmp_path: Path) -> None:
    with connection(tmp_path) as broker, connection(tmp_path) as other:
        channels: list[Any] = [broker.default_channel, other.default_channel]
        for number in range(20):
            channels[0]._put(QUEUE, {"number": number})
        found = [channel._get(QUEUE)["number"] for _ in range(10) for channel in channels]
        assert sorted(found) == list(range(20))


def test_a_reader_beside_a_writer_finds_every_message_whole(tmp_path: Path) -> None:
    done = Event()

    def write() -> None:
        with connection(tmp_path) as broker:
            channel: Any = broker.default_channel
            for number in range(300):
                channel._put(QUEUE, {"number": number, "filling": "x" * 5000})
        done.set()

    writer = Thread(target=write)
    found: list[int] = []
    with connection(tmp_path) as broker:
        channel: Any = broker.default_channel
        writer.start()
        while len(found) < 300:
            last_look = done.is_set()
            try:
                found.append(channel._get(QUEUE)["number"])
            except Empty:
                assert not last_look, f"{300 - len(found)} messages are lost"
    writer.join()
    assert sorted(found) == list(range(300))


def test_a_table_that_another_process_is_writing_is_read_again(tmp_path: Path) -> None:
    with connection(tmp_path) as broker:
        channel: Any = broker.default_channel
        table = channel._exchange_file("celery")
        table.parent.mkdir(exist_ok=True)
        table.write_bytes(b"")
        Thread(target=lambda: (Event().wait(0.2), table.write_text('[["", "", "q"]]'))).start()
        assert [bound.queue for bound in channel.get_table("celery")] == ["q"]
