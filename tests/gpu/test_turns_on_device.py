"""Turns at the gate on a real GPU: programs that a wait in the wrong place breaks. Needs neither Django nor a plugin.

Without a GPU all of it is skipped. By hand, with the values that were measured:
python -m pytest -c /dev/null --rootdir=. --noconftest -q -s tests/gpu/test_turns_on_device.py
"""

# ruff: noqa: T201 - with -s the tests print the values that they measure

import os
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from runners.agent.devices.gate import PAGE
from runners.agent.devices.porter import Porter
from runners.agent.judges.command.runs import GATE
from runners.agent.profilers import cupti_library
from runners.agent.profilers.cupti import ONE_AT_A_TIME, gate_attachment
from runners.agent.profilers.cupti_notes import Notes, read_notes
from tests.agent.gate_players import Player, gate_at, playing
from tests.patience import until

COMPLAINT = cupti_library.why_unavailable()
pytestmark = [
    pytest.mark.skipif(shutil.which("nvcc") is None, reason="needs nvcc"),
    pytest.mark.skipif(bool(COMPLAINT), reason=COMPLAINT),
]
SOURCE = Path(__file__).parent / "turns_program.cu"
LIMIT_SECONDS = 30.0
"""The programs take a few; one that waits for ever fails by then. Their kernels give up after 10."""
NOTES = "PODIUM_CUPTI_NOTES"
WAYS = {"overlapping": {}, "one at a time": ONE_AT_A_TIME, "unrecorded": {NOTES: ""}}
LEFT_OUT = {*ONE_AT_A_TIME, NOTES, GATE, "CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH", "CUDA_MODULE_LOADING"}
MOMENT_SECONDS = 0.001
REST_MS = 10.0
NEVER_MS = 3_600_000.0
SLICE_MS = 20.0
"""As in rules.h."""
SLACK_MS = 70.0
MOST_AHEAD = 1024
"""How many launches the driver takes before the device has done the first."""
SEVERAL = 4
MODES = ["global", "thread-local", "relaxed"]
CAPTURES = [f"{program} {mode}" for program in ("capture", "beside") for mode in MODES]

each_way = pytest.mark.parametrize("way", WAYS)
while_kernels_overlap = pytest.mark.parametrize("way", ["overlapping", "unrecorded"])
where_recorded = pytest.mark.parametrize("way", ["overlapping", "one at a time"])


@dataclass(frozen=True)
class Made:
    program: Path
    per_thread: Path
    """The same, whose default stream is a thread's own."""
    code: Path
    """Its kernels alone, for the driver's calls."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    folder = tmp_path_factory.mktemp("turns")

    def compiled(name: str, *how: str) -> Path:
        command = ["nvcc", "-std=c++17", "-arch=native", *how, "-o", str(folder / name), str(SOURCE)]
        subprocess.run(command, check=True)
        return folder / name

    return Made(
        compiled("turns_program", "-ldl"),
        compiled("per_thread", "--default-stream", "per-thread", "-ldl"),
        compiled("turns_program.cubin", "-cubin"),
    )


class Ended(NamedTuple):
    code: int
    stdout: str
    stderr: str


def run_to_end(command: Sequence[str | Path], environment: dict[str, str]) -> Ended:
    process = subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        stdout, stderr = process.communicate(timeout=LIMIT_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        stdout, stderr = process.communicate(timeout=LIMIT_SECONDS)
        pytest.fail(f"not done after {LIMIT_SECONDS:.0f} s, and killed; it had said {stdout + stderr!r}")
    return Ended(process.returncode, stdout, stderr)


def clean_environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name not in LEFT_OUT}


@dataclass
class Other:
    """Another benchmark: once the first has used the device it wants it for a moment, rests, and wants it again."""

    player: Player
    first: Player
    rest_ms: float
    waits_ms: list[float] = field(default_factory=list)
    always_let_in: bool = True
    over: threading.Event = field(default_factory=threading.Event)

    def play(self) -> None:
        until(lambda: self.first.last_use_ns or self.over.is_set(), LIMIT_SECONDS)
        while self.always_let_in and not self.over.wait(self.rest_ms / 1e3):
            since = time.monotonic()
            self.player.ask()
            self.always_let_in = self.player.work()
            self.waits_ms.append((time.monotonic() - since) * 1e3)
            time.sleep(MOMENT_SECONDS)
            self.player.rest()

    @contextmanager
    def at_play(self) -> Iterator[None]:
        thread = threading.Thread(target=self.play, name="other")
        thread.start()
        try:
            yield
        finally:
            self.over.set()
            thread.join()


@dataclass(frozen=True)
class Stood:
    """The outcome of a program at a gate, and of the other that took turns with it."""

    ended: Ended
    n_windows: int
    waiting: int
    in_progress: int
    starts: tuple[int, int, int]
    """Wanted, granted and done."""
    notes: Notes | None
    other: Other

    def kernel_ms(self, name: str) -> float:
        assert self.notes
        return sum(one.ns for process in self.notes.processes for one in process.kernels if one.name == name) / 1e6


Stand = Callable[..., Stood]


@pytest.fixture
def stand(tmp_path: Path) -> Iterator[Stand]:
    """Runs a program at a gate: its path and arguments, how it is recorded, and how long the other rests."""
    porter, numbers = Porter(), count()
    library = cupti_library.find_or_build().path

    def stand(*command: str | Path, way: str, rest_ms: float = REST_MS, **environment: str) -> Stood:
        folder = tmp_path / f"run-{next(numbers)}"
        gate = gate_at(folder, porter, LIMIT_SECONDS)
        attachment = gate_attachment("", library, folder)
        own = {**attachment.environment, NOTES: str(folder), GATE: str(gate.path), **WAYS[way], **environment}
        with playing(tmp_path / f"{folder.name}-other", porter) as player, gate.attended():
            other = Other(player, Player(gate.path), rest_ms)
            with other.at_play():
                ended = run_to_end(command, {**clean_environment(), **own})
        _, waiting, in_progress, *_, wanted, granted, done, _ = PAGE.unpack(gate.path.read_bytes())
        notes = read_notes(folder, LIMIT_SECONDS * 1e3)
        return Stood(ended, len(gate.windows), waiting, in_progress, (wanted, granted, done), notes, other)

    yield stand
    porter.close()


def near(ms: float, share: float = 0.03) -> Any:
    return pytest.approx(ms, rel=share)


def well(stood: Stood, *, processes: int = 1, way: str) -> Stood:
    """Ended as without a gate, left nothing behind there, kept nobody out, and was recorded whole where it was."""
    assert stood.ended == Ended(0, "", "")
    assert stood.other.always_let_in
    assert (stood.waiting, stood.in_progress) == (0, 0)
    assert stood.starts == (processes, processes, processes)
    assert (stood.notes is None) == (way == "unrecorded")
    if stood.notes:
        assert (len(stood.notes.processes), stood.notes.unfinished) == (processes, 0)
        lacks = way == "one at a time"
        untimed = [one.incomplete if lacks and one.has_untimed_graphs else 0 for one in stood.notes.processes]
        assert [one.missing for one in stood.notes.processes] == untimed
    print(f"{stood.n_windows} windows, the other's waits {[round(ms, 1) for ms in stood.other.waits_ms]} ms")
    return stood


def well_in_turns(stood: Stood, *, processes: int = 1, way: str) -> Stood:
    """As well, and the turn changed hands in the midst of it."""
    assert well(stood, processes=processes, way=way).n_windows >= SEVERAL
    return stood


@pytest.mark.parametrize("words", [*CAPTURES, "pair", "behind", "frees", "threads", "long 2000 2000", "plain", "forks"])
def test_programs_do_well_by_themselves(made: Made, words: str) -> None:
    """Where one does not, it is no fault of the gate, nor of the recorder."""
    assert run_to_end([made.program, *words.split()], clean_environment()) == Ended(0, "", "")


def test_programs_of_other_makes_do_well_by_themselves(made: Made) -> None:
    assert run_to_end([made.per_thread, "threads"], clean_environment()) == Ended(0, "", "")
    assert run_to_end([made.program, "library", made.code], clean_environment()) == Ended(0, "", "")


@where_recorded
@pytest.mark.parametrize("words", CAPTURES)
def test_captures_do_well_where_they_are_only_recorded(made: Made, words: str, way: str, tmp_path: Path) -> None:
    attachment = gate_attachment("", cupti_library.find_or_build().path, tmp_path)
    environment = {**clean_environment(), **attachment.environment, NOTES: str(tmp_path), **WAYS[way]}
    assert run_to_end([made.program, *words.split()], environment) == Ended(0, "", "")


@each_way
@pytest.mark.parametrize("words", CAPTURES)
def test_captures_end_as_without_a_gate(stand: Stand, made: Made, words: str, way: str) -> None:
    stood = well_in_turns(stand(made.program, *words.split(), way=way), way=way)
    if stood.notes:
        assert all(one.has_untimed_graphs == (way == "one at a time") for one in stood.notes.processes)


@while_kernels_overlap
def test_a_kernel_that_ends_with_a_later_one_does_not_stop_its_program(stand: Stand, made: Made, way: str) -> None:
    """The program may be called back once, in vain, and is then let go on: how often it changes places is open."""
    well(stand(made.program, "pair", way=way), way=way)


@while_kernels_overlap
def test_a_kernel_that_ends_with_the_host_is_not_waited_for_for_ever(stand: Stand, made: Made, way: str) -> None:
    well(stand(made.program, "behind", way=way), way=way)


@each_way
def test_memory_is_given_back_after_the_kernels_that_use_it(stand: Stand, made: Made, way: str) -> None:
    well_in_turns(stand(made.program, "frees", way=way), way=way)


@each_way
@pytest.mark.parametrize("loading", ["LAZY", "EAGER"])
def test_kernels_of_libraries_and_modules_are_loaded_and_run(stand: Stand, made: Made, loading: str, way: str) -> None:
    stood = stand(made.program, "library", made.code, way=way, CUDA_MODULE_LOADING=loading)
    well_in_turns(stood, way=way)


@each_way
@pytest.mark.parametrize("per_thread", [False, True])
def test_threads_share_their_turns(stand: Stand, made: Made, per_thread: bool, way: str) -> None:
    program = made.per_thread if per_thread else made.program
    well_in_turns(stand(program, "threads", way=way), way=way)


@where_recorded
@pytest.mark.parametrize(("launches", "at_once"), [(2_000, 100), (10_000, 10_000)])
def test_a_long_turn_is_called_back_and_its_kernels_take_no_longer(
    stand: Stand, made: Made, launches: int, at_once: int, way: str
) -> None:
    command = made.program, "long", str(launches), str(at_once)
    alone = well(stand(*command, way=way, rest_ms=NEVER_MS), way=way)
    among = well_in_turns(stand(*command, way=way, rest_ms=50.0), way=way)
    alone_ms, among_ms = alone.kernel_ms("work"), among.kernel_ms("work")
    print(f"{launches} kernels: {alone_ms:.2f} ms alone, {among_ms:.2f} ms in {among.n_windows} windows")
    assert alone.n_windows == 1
    assert among_ms == near(alone_ms)
    later_ms = among.other.waits_ms[1:]
    assert len(later_ms) >= SEVERAL
    begun_ms = min(at_once, MOST_AHEAD) * alone_ms / launches
    assert max(later_ms) < SLICE_MS + begun_ms + SLACK_MS, "what was launched before is done first"


@each_way
def test_children_share_their_parents_gate(stand: Stand, made: Made, way: str) -> None:
    well_in_turns(stand(made.program, "forks", way=way), processes=3, way=way)
