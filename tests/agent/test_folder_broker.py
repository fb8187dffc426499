"""The folder broker: a message is there whole or not at all, and a damaged file is no message."""

from pathlib import Path
from queue import Empty
from threading import Event, Thread
from typing import Any

import pytest
from celery import Celery
from kombu import Connection

from runners.broker import celery_settings
from runners.doorbell import TASK

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
        app.send_task(TASK, args=["cpu", "both"], queue=QUEUE)
    assert caplog.messages == []
    with connection(tmp_path) as broker, broker.SimpleQueue(QUEUE) as queue:
        assert queue.get(timeout=5).headers["task"] == TASK


def test_two_folders_of_one_process_know_nothing_of_each_other(tmp_path: Path) -> None:
    for name in ("one", "other"):
        with connection(tmp_path / name) as broker, broker.SimpleQueue(QUEUE) as queue:
            queue.put({"folder": name}, serializer="json")
            assert queue.get(timeout=5).payload == {"folder": name}


def test_a_file_that_is_no_message_yet_ends_no_reader(tmp_path: Path) -> None:
    with connection(tmp_path) as broker:
        channel: Any = broker.default_channel
        (Path(channel.data_folder_in) / f"1_x.{QUEUE}.msg").write_bytes(b"")
        with pytest.raises(Empty):
            channel._get(QUEUE)


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
