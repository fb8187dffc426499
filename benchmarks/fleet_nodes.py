"""Simulated nodes: they speak the node API over kept connections, take messages from the broker, and judge nothing."""

import asyncio
import hashlib
import json
import queue
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from runners.wire.protocol import (
    PROTOCOL_VERSION,
    BlobRef,
    LogText,
    Provenance,
    Report,
    Stage,
    StepReport,
    Verdict,
    Witness,
)
from runners.wire.queues import queue_name, read_by_node

LOG_BYTES = 20_000


class Http:
    """One kept HTTP/1.1 connection."""

    def __init__(self, port: int, token: str) -> None:
        self._port, self._token = port, token
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None
        self._turn = asyncio.Lock()

    async def call(
        self, method: str, path: str, body: bytes = b"", headers: dict[str, str] | None = None
    ) -> tuple[int, bytes, dict[str, str]]:
        """Status, body and headers. A connection that the server has closed is made anew, once."""
        async with self._turn:
            try:
                return await self._call(method, path, body, headers or {})
            except (OSError, asyncio.IncompleteReadError):
                self.close()
                return await self._call(method, path, body, headers or {})

    async def _call(
        self, method: str, path: str, body: bytes, headers: dict[str, str]
    ) -> tuple[int, bytes, dict[str, str]]:
        if self._writer is None:
            self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self._port)
        assert self._reader is not None
        sent = {
            "Host": f"127.0.0.1:{self._port}", "Authorization": f"Bearer {self._token}",
            "Content-Type": "application/json", "Content-Length": str(len(body)), **headers,
        }  # fmt: skip
        lines = [f"{method} /api/node/v1/{path} HTTP/1.1", *(f"{name}: {value}" for name, value in sent.items())]
        self._writer.write("\r\n".join([*lines, "", ""]).encode() + body)
        await self._writer.drain()
        head = (await self._reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        got = {name.lower(): value for name, _, value in (line.partition(": ") for line in head[1:] if line)}
        if got.get("transfer-encoding") == "chunked":
            content = await self._chunks()
        else:
            content = await self._reader.readexactly(int(got.get("content-length", "0")))
        if got.get("connection") == "close":
            self.close()
        return int(head[0].split()[1]), content, got

    async def _chunks(self) -> bytes:
        assert self._reader is not None
        content = b""
        while n := int((await self._reader.readline()).strip() or b"0", 16):
            content += await self._reader.readexactly(n)
            await self._reader.readline()
        await self._reader.readline()
        return content

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()
        self._reader = self._writer = None


class Messages:
    """Takes messages of one queue for all simulated nodes, in a thread of its own, and acknowledges them.

    A connection that the broker has closed is made anew; the broker delivers what was not acknowledged again.
    """

    def __init__(self, broker_url: str, track: str) -> None:
        self._url, self._name = broker_url, queue_name(track, Stage.BOTH)
        self._wanted: queue.Queue[tuple[asyncio.AbstractEventLoop, asyncio.Future[Any]]] = queue.Queue()
        self._ended: queue.Queue[Callable[[], object]] = queue.Queue()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    async def take(self) -> Any:
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Any] = loop.create_future()
        self._wanted.put((loop, future))
        return await future

    def acknowledge(self, message: Any) -> None:
        self._ended.put(message.ack)

    def give_back(self, message: Any) -> None:
        """The broker does so when the connection of a killed node closes."""
        self._ended.put(message.requeue)

    def stop(self) -> None:
        self._stopping.set()
        self._thread.join()

    def _run(self) -> None:
        from kombu import Connection

        while not self._stopping.is_set():
            with Connection(self._url) as connection:
                try:
                    connection.connect()
                    self._deliver(connection)
                except connection.connection_errors:
                    time.sleep(1)

    def _deliver(self, connection: Any) -> None:
        bound = read_by_node(self._name)(connection.channel())
        while not self._stopping.is_set():
            self._end(connection)
            if self._wanted.empty():
                time.sleep(0.002)
                continue
            try:
                message = bound.get(accept=["json"])
            except connection.channel_errors:  # the site has not declared the queue yet
                bound = read_by_node(self._name)(connection.channel())
                message = None
            if message is None:
                time.sleep(0.02)
                continue
            self._hand_over(message)
        self._end(connection)

    def _hand_over(self, message: Any) -> None:
        """To the first that waits and is alive."""
        while not self._wanted.empty():
            loop, future = self._wanted.get()
            if not future.cancelled():
                loop.call_soon_threadsafe(self._settle, future, message)
                return
        message.requeue()

    def _settle(self, future: asyncio.Future[Any], message: Any) -> None:
        """In the loop's thread, where the node may have been killed meanwhile."""
        if future.cancelled():
            self.give_back(message)
        else:
            future.set_result(message)

    def _end(self, connection: Any) -> None:
        while not self._ended.empty():
            with suppress(*connection.channel_errors, *connection.connection_errors):  # a message of a lost connection
                self._ended.get()()


@dataclass
class SeenNode:
    """Times and answers that the simulated nodes saw."""

    claim_ms: list[float] = field(default_factory=list)
    report_ms: list[float] = field(default_factory=list)
    statuses: dict[str, int] = field(default_factory=dict)
    reported: int = 0
    busy: int = 0

    def count(self, what: str, status: int) -> None:
        key = f"{what} {status}"
        self.statuses[key] = self.statuses.get(key, 0) + 1


class SimulatedNode:
    """One node with one slot."""

    def __init__(self, port: int, token: str, track: str, seen: SeenNode) -> None:
        self._http, self._track, self._seen, self._boot = Http(port, token), track, seen, str(uuid4())
        self._alive, self._state = "", str(uuid4())

    @property
    def is_at_work(self) -> bool:
        return bool(self._alive)

    async def hello(self) -> None:
        said = {
            "protocol_version": PROTOCOL_VERSION,
            "capabilities": {"cpu_cores": 2},
            "boot_id": self._boot,
            "state_id": self._state,
        }
        await self._patiently("hello", "POST", "hello", json.dumps(said).encode())

    async def start_again(self) -> None:
        """After a kill: over the same state folder, which takes over from the earlier start."""
        self._http.close()
        self._alive, self._boot = "", str(uuid4())
        await self.hello()

    async def beat(self) -> None:
        """The one heartbeat of a node, of its attempts or of none."""
        beats = [{"attempt": self._alive, "stage": "testing"}] if self._alive else []
        await self._patiently("beat", "POST", "heartbeat", json.dumps({"beats": beats}).encode())

    async def claim(self) -> dict[str, Any] | None:
        asked = {"protocol_version": PROTOCOL_VERSION, "track": self._track, "stage": "both", "most": 1}
        began = time.perf_counter()
        status, content, _ = await self._patiently("claim", "POST", "claim", json.dumps(asked).encode())
        self._seen.claim_ms.append((time.perf_counter() - began) * 1000)
        works = json.loads(content)["works"] if status == 200 else []
        if not works:
            return None
        work: dict[str, Any] = works[0]
        self._alive = work["attempt"]
        return work

    async def grade(self, work: dict[str, Any]) -> None:
        """Fetch the solution, beat once, store a log, report."""
        attempt, headers = work["attempt"], {"X-Podium-Attempt": work["attempt_token"]}
        place = f"attempts/{attempt}"
        await self._patiently("get", "GET", f"{place}/blobs/{work['solution']['sha256']}", b"", headers)
        await self.beat()
        log = f"log of {attempt}\n".encode().ljust(LOG_BYTES, b".")
        digest = hashlib.sha256(log).hexdigest()
        await self._patiently("put", "PUT", f"{place}/blobs/{digest}", log, headers)
        step = StepReport(name="test", exit_code=0, log=LogText(blob=BlobRef(sha256=digest, size_bytes=len(log))))
        report = Report(verdict=Verdict.PASSED, witness=Witness.SEEN, steps=[step], provenance=Provenance())
        began = time.perf_counter()
        body = report.model_dump_json().encode()
        status, _, _ = await self._patiently("report", "POST", f"{place}/report", body, headers)
        self._seen.report_ms.append((time.perf_counter() - began) * 1000)
        self._seen.reported += status == 200
        self._alive = ""

    async def _patiently(
        self, what: str, method: str, path: str, body: bytes, headers: dict[str, str] | None = None
    ) -> tuple[int, bytes, dict[str, str]]:
        """Call again after Retry-After where the site is busy."""
        named = {"X-Podium-Alive": self._alive} if self._alive else {}
        while True:
            answer = await self._http.call(method, path, body, {**named, **(headers or {})})
            self._seen.count(what, answer[0])
            if answer[0] != 503:
                return answer
            await asyncio.sleep(float(answer[2].get("retry-after", "1")))
