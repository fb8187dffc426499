"""The contestant's code in a process of its own, spoken to over two pipes; the harness never imports it."""

import ctypes
import json
import os
import sys
from typing import Any

PR_SET_DUMPABLE = 4
LONGEST_REPLY_BYTES = 64 << 20


class Misbehaved(Exception):
    """The contestant's process ended early, or answered with something that is not JSON."""


def shut_out_other_processes() -> None:
    """Deny processes of the same user this one's memory, descriptors and environment: expected values live here."""
    if ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0:
        raise OSError("prctl(PR_SET_DUMPABLE) failed: the harness cannot protect itself")


def benchmark_wanted() -> bool:
    """Asked through the environment, not an argument: the contestant's process can read this one's arguments."""
    return os.environ.pop("HARNESS_TASK", "") == "benchmark"


class Contestant:
    """One child process that answers calls of one function of `solution.py`."""

    def __init__(self, function: str) -> None:
        shut_out_other_processes()
        read_requests, write_requests = os.pipe()
        read_replies, write_replies = os.pipe()
        runner = os.path.join(os.path.dirname(os.path.abspath(__file__)), "runner.py")
        arguments = [sys.executable, "-I", "-S", "-B", runner, function]
        ends = [(os.POSIX_SPAWN_DUP2, read_requests, 0), (os.POSIX_SPAWN_DUP2, write_replies, 1)]
        os.posix_spawn(sys.executable, arguments, os.environ, file_actions=ends)
        os.close(read_requests)
        os.close(write_replies)
        self._requests = os.fdopen(write_requests, "w")
        self._replies = os.fdopen(read_replies, "rb")

    def call(self, *arguments: Any) -> Any:
        """What the function returns for these arguments, as plain JSON values. Raises Misbehaved."""
        try:
            self._requests.write(json.dumps(arguments) + "\n")
            self._requests.flush()
            return json.loads(self._replies.readline(LONGEST_REPLY_BYTES))
        except (OSError, ValueError, RecursionError) as error:
            raise Misbehaved(f"no answer from the solution: {error}") from None


def check(holds: bool, complaint: str) -> None:
    """End the harness with `complaint` unless `holds`."""
    if not holds:
        sys.exit(f"FAILED: {complaint}")
