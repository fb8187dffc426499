"""The queue of a whole Podium: messages follow the rows, whatever happens to nodes, messages and broker."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import requests

from tests.e2e.brokers import REDIS_SERVER, RedisServer, rabbitmq_url, reader_of
from tests.e2e.stack import Stack
from tests.packs import problem, solution
from tests.requirements import RABBITMQ4_URL, RABBITMQ_URL, requires

pytestmark = [requires("bubblewrap"), pytest.mark.rest]


@contextmanager
def stack_on(tmp_path: Path, broker_url: str) -> Iterator[Stack]:
    stack = Stack(tmp_path, f"sqlite:///{tmp_path}/site.sqlite3", broker_url, sandbox="bubblewrap")
    try:
        yield stack
    finally:
        stack.stop()


def as_many_messages_as_rows(stack: Stack, submission: int) -> Callable[[], bool]:
    return lambda: stack.n_ready == stack.states(submission).get("queued", 0) > 0


def walk(stack: Stack) -> None:
    """Fifteen samples; each node has two slots in each of its lanes and fetches a fifth job."""
    stack.start([problem("a/1", timeout_seconds=60.0), problem("a/2")])
    rows = [solution("a/1", f"sleep 5; exit 0 # {n}") for n in range(15)]
    submission = stack.submit([*rows, solution("a/2", "exit 0")])
    stack.wait_until(lambda: stack.states(submission).get("leased") == 5, "the node is busy")
    stack.wait_until(as_many_messages_as_rows(stack, submission), "messages for all that wait")
    assert stack.purge() > 0
    stack.wait_until(lambda: stack.n_ready > 0, "deleted messages come back")
    stack.start_node("node-2")
    stack.wait_until(lambda: stack.states(submission).get("leased") == 10, "the second node gets work at once")
    stack.wait_until(as_many_messages_as_rows(stack, submission), "messages for all that wait")
    stack.wait_for(submission)
    stack.wait_until(lambda: stack.n_ready == 0, "no message is left over")
    answer = requests.get(f"{stack.url}/api/v1/submissions/{submission}/results.jsonl", timeout=10)
    assert answer.text.count('"passed"') >= 16


def test_messages_follow_rows_in_a_folder(tmp_path: Path) -> None:
    with stack_on(tmp_path, f"filesystem://{tmp_path}/broker") as stack:
        walk(stack)


SERVERS = [
    pytest.param(RABBITMQ_URL, marks=requires("rabbitmq")),
    pytest.param(RABBITMQ4_URL, marks=requires("rabbitmq4")),
]


@pytest.mark.parametrize("server", SERVERS, ids=["rabbitmq", "rabbitmq4"])
def test_messages_follow_rows_in_rabbitmq_and_nodes_only_read_them(tmp_path: Path, server: str) -> None:
    with rabbitmq_url(server) as url, reader_of(url) as own_url, stack_on(tmp_path, url) as stack:
        stack.node_broker_url = own_url
        walk(stack)


@pytest.mark.skipif(not REDIS_SERVER, reason="needs redis-server, which this machine does not offer")
def test_while_the_broker_is_down_the_site_goes_on_and_all_is_graded_after(tmp_path: Path) -> None:
    with stack_on(tmp_path, "") as stack:
        broker = RedisServer(stack, tmp_path / "redis")
        stack.broker_url = broker.url
        broker.start()
        stack.start([problem("a/1", timeout_seconds=60.0), problem("a/2")])
        stack.manage("collectstatic", "--no-input", "--verbosity", "0")
        before = stack.submit([solution("a/1", "sleep 5"), solution("a/2", "exit 0")])
        stack.wait_until(lambda: "queued" not in stack.states(before), "the node has taken both samples")
        broker.kill()
        stack.wait_until(lambda: stack.states(before) == {"done": 2}, "results of begun work arrive without the broker")
        during = stack.submit([solution("a/1", "exit 0"), solution("a/2", "exit 1")])
        assert requests.get(f"{stack.url}/releases/test-1/", timeout=20).ok
        assert stack.states(during) == {"queued": 2}
        broker.start()
        stack.wait_for(before)
        stack.wait_for(during)

        def ranked() -> bool:
            board = stack.api("GET", "releases/test-1/board/?track=cpu-test")
            return bool(board["standings"]) and board["standings"][0]["pass@1"] == 0.5

        stack.wait_until(ranked, "the board counts what was submitted meanwhile")
