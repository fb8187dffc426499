"""From a pack uploaded by API to a ranked row: on each broker, on each database, with a real node in a real sandbox."""

from pathlib import Path

import pytest
import requests

from tests.e2e.brokers import rabbitmq_url, redis_url
from tests.e2e.stack import Stack
from tests.packs import problem, solution
from tests.requirements import requires

pytestmark = [pytest.mark.rest, requires("bubblewrap")]


def folder_broker(tmp_path: Path) -> str:
    return f"filesystem://{tmp_path}/broker"


def stack_on(tmp_path: Path, database_url: str, broker_url: str) -> Stack:
    return Stack(tmp_path, database_url, broker_url, sandbox="bubblewrap")


def walk_the_path(stack: Stack) -> None:
    """Submit two samples a problem, wait, and read verdicts, times and the board."""
    stack.start([problem("a/1", benchmark_command="sh solution.sh"), problem("a/2", timeout_seconds=5.0)])
    stack.manage("check", "--database", "default", "--fail-level", "WARNING")  # of migrated tables: their triggers
    rows = [
        solution("a/1", "exit 0"),
        solution("a/1", "exit 1"),
        solution("a/2", "exit 0"),
        solution("a/2", "sleep 30"),
    ]
    submission = stack.submit(rows)
    assert stack.submit(rows) == submission, "the same again is the same submission"
    stack.wait_for(submission)
    answer = requests.get(f"{stack.url}/api/v1/submissions/{submission}/results.jsonl", timeout=10)
    assert answer.text.count('"passed"') >= 2
    assert '"timed_out"' in answer.text

    def ranked() -> bool:
        board = stack.api("GET", "releases/test-1/board/?track=cpu-test")
        return bool(board["standings"]) and board["standings"][0]["pass@1"] == 0.5

    stack.wait_until(ranked, "the board shows pass@1 of one half")


def run_on(tmp_path: Path, database_url: str, broker_url: str) -> None:
    stack = stack_on(tmp_path, database_url, broker_url)
    try:
        walk_the_path(stack)
    except BaseException:
        print(stack.logs())  # noqa: T201 - what a person needs to see of a failed run
        raise
    finally:
        stack.stop()


def test_folder_broker_and_sqlite(tmp_path: Path) -> None:
    run_on(tmp_path, f"sqlite:///{tmp_path}/site.sqlite3", folder_broker(tmp_path))


@requires("redis")
def test_redis_and_sqlite(tmp_path: Path) -> None:
    run_on(tmp_path, f"sqlite:///{tmp_path}/site.sqlite3", redis_url())


@requires("rabbitmq")
@requires("postgres")
def test_rabbitmq_and_postgresql(tmp_path: Path, postgres: str) -> None:
    with rabbitmq_url() as url:
        run_on(tmp_path, postgres, url)


@pytest.mark.rest
def test_a_killed_node_loses_nothing(tmp_path: Path) -> None:
    """kill −9 in the middle of a run: the lease is swept and another node finishes."""
    stack = stack_on(tmp_path, f"sqlite:///{tmp_path}/site.sqlite3", folder_broker(tmp_path))
    try:
        stack.start([problem("a/1", timeout_seconds=60.0), problem("a/2")])
        submission = stack.submit([solution("a/1", "sleep 3"), solution("a/2", "exit 0")])
        busy = lambda: stack.api("GET", f"submissions/{submission}/progress/")["states"].get("leased", 0) > 0  # noqa: E731
        stack.wait_until(busy, "a sample is running")
        stack.kill("node")
        stack.start_node("node-2")
        stack.wait_for(submission)
        text = requests.get(f"{stack.url}/api/v1/submissions/{submission}/results.jsonl", timeout=10).text
        assert text.count('"verdict":"passed"') == 2 or text.count('"verdict": "passed"') == 2
    finally:
        stack.stop()
