"""PMPP's routes in their own process: a real node's verdict, the bound of callers, and logs without the token."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psycopg
import pytest
import requests

from tests.e2e.stack import Stack
from tests.packs import problem
from tests.requirements import requires

pytestmark = [pytest.mark.rest, requires("bubblewrap")]


def evaluate(base: str, script: str, timeout_seconds: int = 120) -> requests.Response:
    said = {"task_dir": "1", "student_file": "x.cu", "code": script, "timeout_sec": timeout_seconds}
    return requests.post(f"{base}/evaluate", json=said, timeout=timeout_seconds + 10)


def outcome(answer: requests.Response) -> Any:
    assert answer.ok, answer.text
    said = answer.json()
    return said["success"], [(one["target"], one["exit_code"]) for one in said["results"]]


def test_a_real_node_grades_for_callers_who_wait(tmp_path: Path) -> None:
    stack = Stack(tmp_path, f"sqlite:///{tmp_path}/site.sqlite3", f"filesystem://{tmp_path}/broker", "bubblewrap")
    starter = {"build_only": [], "starter": [{"path": "solution.sh", "content": ""}]}
    try:
        stack.start([problem("a/1", timeout_seconds=60.0, podium=starter)])
        base = stack.start_pmpp(PODIUM_PMPP_WAITING="2")
        assert outcome(evaluate(base, "exit 0")) == (True, [("test_student", 0), ("test_student", 0)])
        assert outcome(evaluate(base, "exit 3")) == (False, [("test_student", 0), ("test_student", 3)])
        check_bound(stack, base)
        check_misrouted(stack)
    except BaseException:
        print(stack.logs())  # noqa: T201 - what a person needs to see of a failed run
        raise
    finally:
        stack.stop()
    logs = "".join(path.read_text(errors="replace") for path in tmp_path.glob("*.log"))
    assert "/compat/pmpp/[token]/evaluate" in logs
    assert stack.tokens["pmpp"] not in logs


@requires("postgres")
def test_many_callers_at_once_share_a_few_connections(tmp_path: Path, postgres: str) -> None:
    stack = Stack(tmp_path, postgres, f"filesystem://{tmp_path}/broker", "bubblewrap")
    try:
        stack.start([problem("a/1")])
        stack.kill("node")
        base = stack.start_pmpp(PODIUM_PMPP_WAITING="60")
        with ThreadPoolExecutor(60) as pool, psycopg.connect(postgres, autocommit=True) as admin:
            calls = [pool.submit(evaluate, base, f"exit {n}", 8) for n in range(60)]
            most = 0
            while not all(call.done() for call in calls):
                most = max(most, count(admin))
            assert [outcome(call.result()) for call in calls] == [(False, [])] * 60
        assert 1 <= most <= 8
    except BaseException:
        print(stack.logs())  # noqa: T201 - what a person needs to see of a failed run
        raise
    finally:
        stack.stop()


def count(admin: psycopg.Connection[Any]) -> int:
    """The connections of the process of PMPP's routes."""
    row = admin.execute("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'podium-pmpp'").fetchone()
    return int(row[0]) if row else 0


def check_bound(stack: Stack, base: str) -> None:
    """Two callers hold all places: a third is told to come back, and the site's own pages go on."""
    with ThreadPoolExecutor(2) as pool:
        held = [pool.submit(evaluate, base, f"sleep 30 # {n}", 10) for n in range(2)]
        stack.wait_until(lambda: requests.get(f"{base}/health", timeout=20).ok and busy(base), "all places are taken")
        assert stack.api("GET", "releases/test-1/board/?track=cpu-test")["standings"] == []
        for call in held:
            assert outcome(call.result()) == (False, [])
            assert call.result().json()["error"].startswith("Not graded: the run did not end within 10 s")


def busy(base: str) -> bool:
    answer = evaluate(base, "exit 0")  # graded before: joins that run and is answered at once if a place is free
    assert answer.status_code == 200 or answer.headers["Retry-After"] == "5"
    return answer.status_code == 503


def check_misrouted(stack: Stack) -> None:
    """The site's own process does not serve the routes, and does not log the token either."""
    address = f"{stack.url}/compat/pmpp/{stack.tokens['pmpp']}/health"
    assert not requests.get(address, timeout=20).ok
