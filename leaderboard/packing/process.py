"""Runs `podium uploads` as a process without the site's secrets, and ends it at its bounds."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from problems.formats.packing_events import Done, Event, Failed, cut, event_from

PASSED = (
    "PATH", "HOME", "USER", "LANG", "LC_ALL", "PYTHONPATH", "VIRTUAL_ENV", "LD_LIBRARY_PATH", "XDG_CACHE_HOME",
    "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS", "DOCKER_HOST", "DOCKER_CERT_PATH", "DOCKER_TLS_VERIFY",
    "PODIUM_SANDBOX", "PODIUM_PYTHON", "PODIUM_DOCKER_IMAGE", "PODIUM_SUPERVISOR", "PODIUM_CACHE_DIR", "PODIUM_GPUS",
    "PODIUM_CUDA_HOME",
)  # fmt: skip
"""Variables that choose and build a sandbox. All others stay with the site: its key, its database, its broker."""
OWN_MEMORY_BYTES = 2 << 30
"""Memory of the process itself, which reads the upload. A definition's memory is bounded by its sandbox."""
POLL_SECONDS = 0.1
_GRACE_SECONDS = 5.0
"""Between asking the process to end, so that it ends its sandbox, and killing it."""
_MAX_LINE_BYTES = 1 << 20
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


class Stopped(Exception):
    """`go_on` said that nobody waits for the outcome."""


def run_podium(
    arguments: Sequence[str], folder: Path, seconds: float, go_on: Callable[[Sequence[Event]], bool]
) -> Done | Failed:
    """Run `podium uploads` with these arguments in the empty folder, and return how it ended.

    `go_on` gets the new events several times a second. Raises Stopped once it returns False.
    """
    work, events, errors = folder / "work", folder / "events", folder / "errors"
    work.mkdir()
    environment = {name: os.environ[name] for name in PASSED if name in os.environ} | {"TMPDIR": str(work)}
    with events.open("wb") as said, errors.open("wb") as complained, events.open("rb") as told:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "podium.cli", "uploads", *arguments],
            cwd=work, env=environment, stdin=subprocess.DEVNULL, stdout=said, stderr=complained, start_new_session=True,
        )  # fmt: skip
        try:
            return _watched(process, _Lines(told), seconds, go_on) or _unexplained(process, errors)
        finally:
            _end(process)


def _watched(
    process: subprocess.Popen[bytes], lines: "_Lines", seconds: float, go_on: Callable[[Sequence[Event]], bool]
) -> Done | Failed | None:
    """The outcome that the process told before it ended, or why it had to end; None if it told none."""
    until = time.monotonic() + seconds
    found: Done | Failed | None = None
    while True:
        has_ended = process.poll() is not None  # before its lines are read, so that none is missed
        events = list(lines.new())
        if not go_on(events):
            raise Stopped
        found = next((one for one in events if isinstance(one, Done | Failed)), found)
        if has_ended:
            return found
        if time.monotonic() > until:
            return found or Failed(code="timed_out", faults=[_too_long(seconds)])
        if _memory_bytes(process.pid) > OWN_MEMORY_BYTES:
            words = f"Reading the archive took more than {OWN_MEMORY_BYTES >> 30} GiB of memory. Upload it in parts."
            return Failed(code="memory_exceeded", faults=[words])
        time.sleep(POLL_SECONDS)


def _too_long(seconds: float) -> str:
    return (
        f"Packing took longer than {seconds:g} s and was stopped. Upload the folder in parts, make its cases smaller,"
        " or ask the site's operator for a larger PODIUM_PACKING_SECONDS."
    )


class _Lines:
    """The events that are written to a file while it is read."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._rest = b""

    def new(self) -> Iterator[Event]:
        *whole, self._rest = (self._rest + self._file.read()).split(b"\n")
        self._rest = self._rest[:_MAX_LINE_BYTES]
        for line in whole:
            if (event := event_from(line)) is not None:
                yield event


def _memory_bytes(pid: int) -> int:
    """Resident now; 0 where the machine does not say, or for a process that has ended."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1]) * _PAGE_BYTES
    except (OSError, IndexError, ValueError):
        return 0


def _unexplained(process: subprocess.Popen[bytes], errors: Path) -> Failed:
    said = errors.read_bytes()[-4000:].decode(errors="replace").strip().splitlines() or [""]
    words = f"The packing ended without a result (exit status {process.returncode}). {said[-1]}".strip()
    return Failed(code="no_result", faults=[cut(words)])


def _end(process: subprocess.Popen[bytes]) -> None:
    """No process of it is left: its sandboxes end with it."""
    if process.poll() is None:
        with suppress(ProcessLookupError):
            process.send_signal(signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            process.wait(_GRACE_SECONDS)
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
