"""Starts and stops the Procfile's processes under honcho, so that none outlives the demo."""

import ctypes
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

import requests

READY_SECONDS = 60
STOP_SECONDS = 15
TAIL_LINES = 40
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36


class ServicesFailed(RuntimeError):
    """A process ended or the site did not answer; the message ends with the last lines that they printed."""


def _die_with_parent() -> None:
    """Runs in the child: should this program be killed, honcho is told to stop, and stops its processes."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def _adopt_orphans() -> None:
    """Should honcho be killed, its processes become this program's children, which can then end them. On Linux."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1)


def _below(pid: int) -> set[int]:
    """On Linux, the process's children, theirs, and so on; elsewhere none are known."""
    found: set[int] = set()
    for file in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):
            found |= {int(child) for child in file.read_text().split()}
    return found.union(*map(_below, found))


class Services:
    """Site, site worker and node; use it in a `with` statement. Their output goes to `log`, each line with its name."""

    def __init__(self, log: Path, port: int, procfile: Path = Path("Procfile")) -> None:
        self._log = log
        self._site_url = f"http://127.0.0.1:{port}"
        self._command = [sys.executable, "-m", "honcho", "--no-colour", "-f", str(procfile), "start", "-p", str(port)]
        self._honcho: subprocess.Popen[bytes] | None = None
        self._others: set[int] = set()
        """Children that are none of the demo's services."""

    def __enter__(self) -> Self:
        self._log.parent.mkdir(parents=True, exist_ok=True)
        self._others = _below(os.getpid())
        _adopt_orphans()
        with self._log.open("wb") as output:
            self._honcho = subprocess.Popen(
                self._command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # Ctrl-C is ours to pass on, once
                preexec_fn=_die_with_parent,  # noqa: PLW1509 - no thread of ours runs yet
            )
        return self

    def __exit__(self, _type: type[BaseException] | None, _: BaseException | None, __: TracebackType | None) -> None:
        if self._honcho is None:
            return
        if self._honcho.poll() is not None:
            self._end_orphans()
            return
        self._honcho.send_signal(signal.SIGTERM)
        try:
            self._honcho.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(self._honcho.pid, signal.SIGKILL)
            self._honcho.wait()
            self._end_orphans()

    def _end_orphans(self) -> None:
        """Ends the services that a killed honcho left behind. Honcho's helpers ignore SIGTERM, and end once their
        services have."""
        deadline = time.monotonic() + STOP_SECONDS
        while orphans := _below(os.getpid()) - self._others:
            number = signal.SIGTERM if time.monotonic() < deadline else signal.SIGKILL
            for pid in orphans:
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, number)
                with suppress(ChildProcessError):
                    os.waitpid(pid, os.WNOHANG)
            time.sleep(0.1)

    def check(self) -> None:
        """Raises ServicesFailed once any process has ended: honcho then ends them all."""
        if self._honcho is None or self._honcho.poll() is not None:
            raise ServicesFailed(f"One of the demo's processes ended. The last lines of {self._log}:\n{self.tail()}")

    def wait_until_ready(self) -> None:
        deadline = time.monotonic() + READY_SECONDS
        while not self._answers():
            self.check()
            if time.monotonic() > deadline:
                raise ServicesFailed(f"The site did not answer in {READY_SECONDS} s. {self._log} ends:\n{self.tail()}")
            time.sleep(0.2)

    def _answers(self) -> bool:
        try:
            return requests.get(f"{self._site_url}/livez", timeout=5).ok
        except requests.RequestException:
            return False

    def tail(self) -> str:
        lines = self._log.read_text(encoding="utf-8", errors="replace").splitlines()
        return "\n".join(lines[-TAIL_LINES:])
