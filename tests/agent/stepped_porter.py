"""The porter's rules for one device under a clock that the test drives; see native/stepped_porter.cpp."""

import subprocess
from collections.abc import Callable
from pathlib import Path

from runners.agent.devices.gate import PAGE
from runners.agent.devices.porter import NATIVE
from tests.agent.gate_players import Player

SOURCE = Path(__file__).parent / "native" / "stepped_porter.cpp"
STEP_MS = 0.5


def compiled_in(folder: Path) -> Path:
    program = folder / "stepped-porter"
    warnings = ["-Wall", "-Wextra", "-Werror"]
    subprocess.run(["g++", "-std=c++17", *warnings, f"-I{NATIVE}", "-o", str(program), str(SOURCE)], check=True)
    return program


class Stage:
    """Players at the gates of one device. Time passes in `pass_ms` and `until` only."""

    def __init__(self, program: Path, folder: Path) -> None:
        self.now_ns = 0
        self._folder = folder
        self._events: list[tuple[str, str, int]] = []
        self._n_players = 0
        self._process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        self.pass_ms(0)

    @property
    def now_ms(self) -> float:
        return self.now_ns / 1e6

    def player(self, *, alone: bool = True) -> Player:
        """A run that wants the device `alone`, as a benchmark does, or shares it with others like it, as tests do."""
        page = self._folder / str(self._n_players)
        self._n_players += 1
        page.write_bytes(bytes(PAGE.size))
        self._say(f"add {page.name} {page} {'alone' if alone else 'shared'}")
        return Player(page, lambda: self.now_ns, self.until)

    def pass_ms(self, ms: float) -> None:
        self._say(f"pass {round(ms * 1e6)}")
        assert self._process.stdout
        for line in self._process.stdout:
            event, name, at = line.split()
            if event == "passed":
                self.now_ns = int(at)
                return
            self._events.append((event, name, int(at)))
        raise AssertionError("the porter has ended")

    def until(self, condition: Callable[[], bool], at_most_ms: float = 5000.0) -> bool:
        """Let time pass until the condition holds; False if it does not by then."""
        end_ms = self.now_ms + at_most_ms
        while not condition() and self.now_ms < end_ms:
            self.pass_ms(STEP_MS)
        return condition()

    def turns_ms(self, player: Player) -> list[tuple[float, float]]:
        """From and until when the player had the device, for each turn that has ended."""
        return self._spans_ms(player, "open", "close")

    def waits_to_start_ms(self, player: Player) -> list[tuple[float, float]]:
        """From and until when the player waited for its start."""
        return self._spans_ms(player, "hold", "begin")

    def _spans_ms(self, player: Player, begin: str, end: str) -> list[tuple[float, float]]:
        at_ms = {
            event: [at / 1e6 for what, name, at in self._events if (what, name) == (event, player.page.name)]
            for event in (begin, end)
        }
        return list(zip(at_ms[begin], at_ms[end], strict=False))

    def _say(self, command: str) -> None:
        assert self._process.stdin
        self._process.stdin.write(command + "\n")

    def close(self) -> None:
        self._process.communicate()
