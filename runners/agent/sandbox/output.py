"""Bounds a command's output and separates it from the supervisor's own lines."""

from collections.abc import Callable

from runners.agent.sandbox.supervisor import SupervisorReport, split_report

TAIL_BYTES = 8 * 1024
"""Longer than any report."""


class BoundedStream:
    """The first `limit` bytes of a stream and its last few. Bytes in between are counted and dropped."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._head = bytearray()
        self.tail = b""
        self.total = 0

    def add(self, chunk: bytes) -> None:
        self.total += len(chunk)
        self._head += chunk[: max(0, self._limit + TAIL_BYTES - len(self._head))]
        self.tail = (self.tail + chunk)[-TAIL_BYTES:]

    def text(self, without_last: int = 0) -> tuple[str, bool]:
        """The kept text without the last bytes, and whether it was truncated."""
        wanted = self.total - without_last
        kept = bytes(self._head[: min(wanted, self._limit)])
        return kept.decode("utf-8", "replace"), wanted > self._limit


class Output:
    """Both streams of one command. stdout opens with a line that tells the command runs, and closes with the report."""

    def __init__(self, nonce: str, limit: int, on_output: Callable[[bytes], None] | None) -> None:
        self._nonce = nonce
        self._hello = f"{nonce}\n".encode()
        self._greeting = b""
        self._on_output = on_output
        self.started = False
        self.stdout = BoundedStream(limit)
        self.stderr = BoundedStream(limit)

    def add_stdout(self, chunk: bytes) -> None:
        if not self.started:
            chunk = self._after_hello(chunk)
        if chunk:
            self.stdout.add(chunk)
            self._show(chunk.split(b"\n" + self._nonce.encode(), 1)[0])

    def add_stderr(self, chunk: bytes) -> None:
        self.stderr.add(chunk)
        self._show(chunk)

    def _after_hello(self, chunk: bytes) -> bytes:
        self._greeting += chunk
        self.started = self._greeting.startswith(self._hello)
        return self._greeting[len(self._hello) :] if self.started else b""

    def _show(self, chunk: bytes) -> None:
        if self._on_output is not None and chunk:
            self._on_output(chunk)

    def report(self) -> tuple[SupervisorReport | None, int]:
        """The supervisor's report and how many bytes of stdout it takes."""
        found = split_report(self.stdout.tail, self._nonce)
        if found is None:
            return None, 0
        start, report = found
        return report, len(self.stdout.tail) - start
