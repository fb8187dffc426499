"""A local endpoint of chat completions that misbehaves as it is told, and counts what it is asked."""

import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Answer:
    """The endpoint's answer to one request."""

    text: str | None = "```cpp\n// file: solution.cpp\nint main() {}\n```"
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    finish_reason: str = "stop"
    refusal: str | None = None
    body: bytes | None = None
    """Sent as it is in place of JSON."""
    cut: bool = False
    """End the connection in the middle of the body."""
    seconds: float = 0.0


Script = Callable[[dict[str, Any], int], Answer]
"""Given the request's body and how often these messages and seed were asked before."""


class FakeEndpoint:
    """`asked` counts requests by (user message, seed), `answered` those that got a whole answer."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.lock = threading.Lock()
        self.asked: Counter[tuple[str, Any]] = Counter()
        self.answered: Counter[tuple[str, Any]] = Counter()
        self.bodies: list[dict[str, Any]] = []
        self.keys: list[str] = []
        self.headers: list[dict[str, str]] = []
        self.times: list[float] = []
        self.url = ""

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        body = json.loads(handler.rfile.read(int(handler.headers["Content-Length"])))
        key = (body["messages"][-1]["content"], body.get("seed"))
        with self.lock:
            before = self.asked[key]
            self.asked[key] += 1
            self.bodies.append(body)
            self.headers.append(dict(handler.headers))
            self.keys.append(handler.headers.get("Authorization", ""))
            self.times.append(time.monotonic())
        answer = self.script(body, before)
        time.sleep(answer.seconds)
        _send(handler, answer, body)
        if answer.status == 200 and not answer.cut and answer.body is None:
            with self.lock:
                self.answered[key] += 1


def _send(handler: BaseHTTPRequestHandler, answer: Answer, body: dict[str, Any]) -> None:
    content = answer.body if answer.body is not None else json.dumps(_completion(answer, body)).encode()
    handler.send_response(answer.status)
    for name, value in answer.headers.items():
        handler.send_header(name, value)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", str(len(content)))
    handler.end_headers()
    handler.wfile.write(content[: len(content) // 2] if answer.cut else content)
    handler.close_connection = True


def _completion(answer: Answer, body: dict[str, Any]) -> dict[str, Any]:
    if answer.status != 200:
        return {"error": {"message": f"status {answer.status} words"}}
    message = {"role": "assistant", "content": answer.text, "refusal": answer.refusal}
    return {
        "id": "c", "object": "chat.completion", "created": 0, "model": f"{body['model']}-reported",
        "choices": [{"index": 0, "message": message, "finish_reason": answer.finish_reason}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
    }  # fmt: skip


@contextmanager
def serving(script: Script) -> Iterator[FakeEndpoint]:
    """The endpoint at `url` on a free port."""
    fake = FakeEndpoint(script)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            fake.answer(self)

        def log_message(self, *_: Any) -> None:
            pass

    class Server(ThreadingHTTPServer):
        def handle_error(self, *_: Any) -> None:
            """A client that was killed is no error."""

    server = Server(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    fake.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    try:
        yield fake
    finally:
        server.shutdown()
        server.server_close()
