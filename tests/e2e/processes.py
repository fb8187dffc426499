"""Programs that a test starts, each in a session of its own with its output in a file."""

import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import requests

ROOT = Path(__file__).resolve().parents[2]
PATIENCE_SECONDS = 120.0
"""Takes some seconds on a quiet machine; one that compiles CUDA beside it may need many times as long."""
END_SECONDS = 20.0


class Stuck(AssertionError):
    """An awaited event did not come, or a process ended by itself."""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@dataclass
class Processes:
    """Logs go to `folder` as NAME.log; `stop` ends everything, however it is by then."""

    folder: Path
    root: Path = field(default=ROOT, kw_only=True)
    """The checkout whose programs run."""
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict, kw_only=True)

    def launch(self, name: str, command: Sequence[str], environment: Mapping[str, str]) -> None:
        with (self.folder / f"{name}.log").open("ab") as log:
            self.processes[name] = subprocess.Popen(
                command,
                env=environment,
                cwd=self.root,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def kill(self, name: str, number: int = signal.SIGKILL) -> None:
        """Signal the process's whole group, as a crash of the machine would."""
        process = self.processes.pop(name)
        os.killpg(process.pid, number)
        process.wait(timeout=END_SECONDS)

    def stop(self) -> None:
        """SIGTERM, the latest first, so that none misses what it needs; SIGKILL to what does not mind it."""
        for name, process in reversed(list(self.processes.items())):
            with suppress(ProcessLookupError):
                try:
                    self.kill(name, signal.SIGTERM)
                except subprocess.TimeoutExpired:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait(timeout=END_SECONDS)

    def check_alive(self) -> None:
        """Raises Stuck where a process has ended that nobody ended."""
        for name, process in self.processes.items():
            if process.poll() is not None:
                raise self._stuck(f"{name} ended with status {process.returncode}")

    def wait_until(
        self, condition: Callable[[], bool], what: str, seconds: float = PATIENCE_SECONDS, every_seconds: float = 0.1
    ) -> None:
        """Raises Stuck, with the ends of all logs as a note."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            self.check_alive()
            try:
                if condition():
                    return
            except (requests.ConnectionError, requests.Timeout):
                pass  # a busy machine answers late; the deadline alone decides
            time.sleep(every_seconds)
        raise self._stuck(f"waited {seconds:g} s for: {what}")

    def logs(self) -> str:
        return "\n".join(
            f"--- {path.name}\n{path.read_text(errors='replace')[-4000:]}" for path in sorted(self.folder.glob("*.log"))
        )

    def _stuck(self, words: str) -> Stuck:
        error = Stuck(words)
        error.add_note(self.logs())
        return error
