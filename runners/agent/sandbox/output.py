"""Bounds a command's output and separates it from the supervisor's own lines."""

from runners.agent.sandbox.supervisor import Orders, SupervisorReport, split_report

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

    def text(self, without_last: int = 0, without: bytes = b"") -> tuple[str, bool]:
        """The kept text without the last bytes and without one piece that is in it; whether it was truncated."""
        wanted = self.total - without_last - len(without)
        kept = bytes(self._head).replace(without, b"", 1)[: min(wanted, self._limit)]
        return kept.decode("utf-8", "replace"), wanted > self._limit


class Output:
    """Both streams of one command. stdout opens with a line that tells the command runs, and closes with the report."""

    def __init__(self, orders: Orders) -> None:
        limit = orders.command.limits.output_bytes
        self._nonce = orders.nonce
        self._hello = f"{orders.nonce}\n".encode()
        self._greeting = b""
        self._over = f"\n{orders.over}\n".encode()
        self._on_output = orders.command.on_output
        self.started = False
        self.is_over = False
        """Whether the supervisor has said that the command ran out of time."""
        self.stdout = BoundedStream(limit)
        self.stderr = BoundedStream(limit)

    def add_stdout(self, chunk: bytes) -> None:
        if not self.started:
            chunk = self._after_hello(chunk)
        if chunk:
            self.is_over = self.is_over or self._over in self.stdout.tail[-len(self._over) :] + chunk
            self.stdout.add(chunk)
            self._show(chunk.replace(self._over, b"", 1).split(b"\n" + self._nonce.encode(), 1)[0])

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

    def stdout_text(self) -> tuple[str, bool]:
        """The command's own text on stdout, and whether it was truncated."""
        return self.stdout.text(self.report()[1], self._over if self.is_over else b"")

    def report(self) -> tuple[SupervisorReport | None, int]:
        """The supervisor's report and how many bytes of stdout it takes."""
        found = split_report(self.stdout.tail, self._nonce)
        if found is None:
            return None, 0
        start, report = found
        return report, len(self.stdout.tail) - start
