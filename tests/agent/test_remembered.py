"""What a node keeps on disk for an hour: the same for the same key, and nothing for whatever is not quite right."""

import json
import os
import stat
import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from runners.agent import remembered
from runners.agent.remembered import Kind, Remembered

NOON = datetime(2020, 5, 4, 12, 0, tzinfo=UTC)
KEY = {"problem": "p", "device": "GPU-1"}


@dataclass(frozen=True)
class Fact:
    times_ms: tuple[float, ...]
    words: str = ""


@dataclass(frozen=True)
class LaterFact:
    times_ms: tuple[float, ...]
    words: str = ""
    more: int = 0


FACT = Kind("fact", Fact)
SEEN = Fact((0.1, 1 / 3, 1e-6), "é")


@pytest.fixture
def at(monkeypatch: pytest.MonkeyPatch) -> Callable[[timedelta], None]:
    """Sets the clock to so long after noon, where it starts."""

    def set_to(after_noon: timedelta) -> None:
        monkeypatch.setattr(remembered, "now", lambda: NOON + after_noon)

    set_to(timedelta())
    return set_to


def only_file(folder: Path) -> Path:
    (path,) = folder.iterdir()
    return path


def test_another_process_finds_exactly_what_was_kept(tmp_path: Path) -> None:
    Remembered(tmp_path).put(FACT, KEY, SEEN)
    assert Remembered(tmp_path).get(FACT, dict(reversed(KEY.items()))) == SEEN


@pytest.mark.parametrize("key", [{**KEY, "device": "GPU-2"}, {"problem": "p"}, {**KEY, "more": ""}])
def test_another_key_finds_nothing(tmp_path: Path, key: dict[str, object]) -> None:
    memory = Remembered(tmp_path)
    memory.put(FACT, KEY, SEEN)
    assert memory.get(FACT, key) is None


def test_another_kind_under_the_same_key_is_another_matter(tmp_path: Path) -> None:
    memory = Remembered(tmp_path)
    memory.put(FACT, KEY, SEEN)
    assert memory.get(Kind("figure", Fact), KEY) is None
    assert memory.get(FACT, KEY) == SEEN


def test_the_last_one_to_write_wins(tmp_path: Path) -> None:
    for words in ("first", "second"):
        Remembered(tmp_path).put(FACT, KEY, Fact((1.0,), words))
    found = Remembered(tmp_path).get(FACT, KEY)
    assert found is not None
    assert found.words == "second"


def test_it_holds_for_an_hour_and_is_removed_when_it_is_over(tmp_path: Path, at: Callable[[timedelta], None]) -> None:
    memory = Remembered(tmp_path)
    memory.put(FACT, KEY, SEEN)
    at(timedelta(minutes=59))
    assert memory.get(FACT, KEY) == SEEN
    at(timedelta(hours=1))
    assert memory.get(FACT, KEY) is None
    assert list(tmp_path.iterdir()) == []


def test_what_comes_from_the_future_is_not_believed(tmp_path: Path, at: Callable[[timedelta], None]) -> None:
    memory = Remembered(tmp_path)
    memory.put(FACT, KEY, SEEN)
    at(timedelta(minutes=-1))
    assert memory.get(FACT, KEY) is None


def cut_short(data: bytes) -> bytes:
    return data[:-3]


def with_another_time(data: bytes) -> bytes:
    return data.replace(b"0.1", b"0.2")


def of_zeros(data: bytes) -> bytes:
    return bytes(len(data))


def empty(_: bytes) -> bytes:
    return b""


def not_text(data: bytes) -> bytes:
    return b"\xff\xfe" + data


@pytest.mark.parametrize("damage", [cut_short, with_another_time, of_zeros, empty, not_text])
def test_a_damaged_file_is_as_none_and_removed(tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
    memory = Remembered(tmp_path)
    memory.put(FACT, KEY, SEEN)
    path = only_file(tmp_path)
    damaged = damage(path.read_bytes())
    assert damaged != path.read_bytes()
    path.write_bytes(damaged)
    assert memory.get(FACT, KEY) is None
    assert not path.exists()


def test_a_file_of_another_shape_is_as_none_and_removed(tmp_path: Path) -> None:
    """As after an update: what an older program kept of a fact that has one more field now."""
    memory = Remembered(tmp_path)
    memory.put(FACT, KEY, SEEN)
    assert memory.get(Kind("fact", LaterFact), KEY) is None
    assert list(tmp_path.iterdir()) == []


def test_a_file_of_another_format_is_as_none_and_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    memory = Remembered(tmp_path)
    memory.put(FACT, KEY, SEEN)
    monkeypatch.setattr(remembered, "FORMAT", remembered.FORMAT + 1)
    assert memory.get(FACT, KEY) is None
    assert list(tmp_path.iterdir()) == []


def test_a_file_under_another_keys_name_is_as_none(tmp_path: Path) -> None:
    memory = Remembered(tmp_path)
    memory.put(FACT, KEY, SEEN)
    path = only_file(tmp_path)
    kept = path.read_bytes()
    other = {**KEY, "device": "GPU-2"}
    memory.put(FACT, other, SEEN)
    (other_path,) = (one for one in tmp_path.iterdir() if one != path)
    other_path.write_bytes(kept)
    assert memory.get(FACT, other) is None


def test_a_number_that_json_cannot_hold_is_not_kept_as_another(tmp_path: Path) -> None:
    memory = Remembered(tmp_path)
    memory.put(FACT, KEY, Fact((float("inf"),)))
    assert memory.get(FACT, KEY) is None


def test_files_are_text_for_the_agents_own_user_alone(tmp_path: Path) -> None:
    folder = tmp_path / "remembered"
    folder.mkdir(mode=0o777)
    Remembered(folder).put(FACT, KEY, SEEN)
    path = only_file(folder)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert json.loads(path.read_bytes().partition(b"\n")[2])["value"]["times_ms"] == list(SEEN.times_ms)


def test_old_files_and_drafts_go_at_start(tmp_path: Path) -> None:
    Remembered(tmp_path).put(FACT, KEY, SEEN)
    (tmp_path / ".draft").write_bytes(b"cut off by a power failure")
    long_ago = datetime.now(UTC).timestamp() - 3700
    for path in tmp_path.iterdir():
        os.utime(path, (long_ago, long_ago))
    Remembered(tmp_path).put(FACT, {"fresh": "one"}, SEEN)
    Remembered(tmp_path)
    assert Remembered(tmp_path).get(FACT, {"fresh": "one"}) == SEEN
    assert len(list(tmp_path.iterdir())) == 1


def test_a_process_that_runs_for_days_prunes_too(tmp_path: Path, at: Callable[[timedelta], None]) -> None:
    memory = Remembered(tmp_path)
    memory.put(FACT, KEY, SEEN)
    os.utime(only_file(tmp_path), (NOON.timestamp(), NOON.timestamp()))
    at(timedelta(hours=2))
    memory.put(FACT, {"fresh": "one"}, SEEN)
    assert len(list(tmp_path.iterdir())) == 1


def test_a_folder_that_cannot_be_written_costs_nothing_but_time(tmp_path: Path) -> None:
    folder = tmp_path / "remembered"
    memory = Remembered(folder)
    folder.rmdir()
    folder.write_text("in the way", encoding="utf-8")
    memory.put(FACT, KEY, SEEN)
    assert memory.get(FACT, KEY) is None


def test_writers_at_the_same_time_never_leave_half_a_file(tmp_path: Path) -> None:
    """Every reader finds one writer's whole value, with as many memories of one folder as there are threads."""
    values = {str(n): Fact(tuple(float(n) for _ in range(2000)), str(n)) for n in range(4)}
    Remembered(tmp_path).put(FACT, KEY, values["0"])
    stop = threading.Event()

    def write(value: Fact) -> None:
        memory = Remembered(tmp_path)
        while not stop.is_set():
            memory.put(FACT, KEY, value)

    writers = [threading.Thread(target=write, args=(value,)) for value in values.values()]
    for writer in writers:
        writer.start()
    try:
        reader = Remembered(tmp_path)
        found = [reader.get(FACT, KEY) for _ in range(200)]
    finally:
        stop.set()
        for writer in writers:
            writer.join()
    assert all(one is not None and one == values[one.words] for one in found)
    assert len(list(tmp_path.iterdir())) == 1
