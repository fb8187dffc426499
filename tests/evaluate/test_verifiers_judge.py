"""`podium verifiers tasks` and `judge`: prompts and verdicts for an environment; a fault is never a verdict."""

import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from podium.generation.asked import Asked
from podium.verifiers.rulings import JudgingFault, Ruling, ruling
from podium.verifiers.serving import serve
from tests.agent.machine import sandbox_name
from tests.evaluate.packs_on_disk import podium, write_problems
from tests.packs import problem
from tests.question_records import choice


class FakeJudge:
    """Passes "good", fails "bad", and cannot grade anything else."""

    workers = 2
    asked: Mapping[str, Asked] = dict.fromkeys(["a/1"], None)  # type: ignore[assignment]

    def rule(self, task_id: str, reply: str, finish_reason: str) -> Ruling:
        if reply == "defect":
            raise ZeroDivisionError("of ours")
        if reply not in ("good", "bad"):
            raise JudgingFault("the node is away")
        return Ruling(reply == "good", "passed" if reply == "good" else "test_failed", finish_reason)


def answers(*requests: Any) -> dict[Any, dict[str, Any]]:
    lines = [one if isinstance(one, str) else json.dumps(one) for one in requests]
    out = io.StringIO()
    serve(FakeJudge(), io.StringIO("\n".join(lines) + "\n"), out)
    ready, *said = map(json.loads, out.getvalue().splitlines())
    assert ready == {"ready": True, "workers": 2}
    return {one["id"]: one for one in said}


def request(number: int, reply: str, task_id: str = "a/1", **more: Any) -> dict[str, Any]:
    return {"id": number, "task_id": task_id, "reply": reply, **more}


def test_every_reply_gets_its_verdict_or_a_fault() -> None:
    said = answers(request(1, "good", finish_reason="stop"), request(2, "bad"), request(3, "?"), request(4, "defect"))
    assert said[1] == {"id": 1, "verdict": "passed", "passed": True, "reason": "stop"}
    assert said[2] == {"id": 2, "verdict": "test_failed", "passed": False, "reason": ""}
    assert said[3] == {"id": 3, "fault": "the node is away"}
    assert said[4] == {"id": 4, "fault": "ZeroDivisionError: of ours"}


def test_a_request_that_is_not_understood_gets_a_fault_and_the_others_go_on() -> None:
    said = answers("{", "[]", {"id": 5}, request(6, "good", "a/9"), request(7, "good"), "")
    assert said[None]["fault"].startswith("the request is not understood")
    assert said[6]["fault"] == "there is no problem 'a/9'"
    assert said[7]["passed"] is True


FLAG = {"code": "context_changed", "scope": "verdict"}


@pytest.mark.parametrize(
    ("verdict", "flags", "words"),
    [
        ("skipped", [], "skipped: why"),
        ("platform_error", [], "platform_error: why"),
        ("passed", [FLAG], "in doubt until a person decides: context_changed"),
    ],
)
def test_a_verdict_that_is_not_the_contestants_is_a_fault(
    verdict: str, flags: Sequence[Mapping[str, Any]], words: str
) -> None:
    with pytest.raises(JudgingFault, match=words):
        ruling(verdict, "why", flags)


def test_a_flag_of_time_or_of_a_failure_changes_nothing() -> None:
    assert ruling("passed", "", [{"code": "other_events", "scope": "time"}]).passed
    assert not ruling("test_failed", "", [FLAG]).passed


def run(folder: Path, name: str, *options: str | Path, stdin: str = "") -> Any:
    return podium(folder / "var", "verifiers", name, *options, stdin=stdin)


def test_replies_are_graded_on_this_machine(folder: Path) -> None:
    needs_gpu = problem("a/gpu", type="cuda_cpp", compute_capability="99.0", test_command="sh solution.sh")
    shell = problem("a/1", test_command="sh solution.sh", podium={"starter": [{"path": "solution.sh", "content": "x"}]})
    problems = write_problems(folder, [shell, needs_gpu, choice()])
    replies = [
        request(1, "```sh\nexit 0\n```"), request(2, "```sh\nexit 1\n```"), request(3, "I cannot."),
        request(4, "```sh\n# file: solution.sh\nexit 0\n```", "a/gpu"), request(5, "Final: B", "qa-1-warps"),
        request(6, "```sh\nexit 0\n", finish_reason="length"),
    ]  # fmt: skip
    stdin = "".join(json.dumps(one) + "\n" for one in replies)
    ran = run(folder, "judge", "--problems", problems, "--sandbox", sandbox_name(), stdin=stdin)
    assert ran.status == 0, ran.stderr
    said = {one.get("id"): one for one in map(json.loads, ran.stdout.splitlines())}
    assert {number: said[number].get("verdict") for number in range(1, 7)} == {
        1: "passed", 2: "test_failed", 3: "invalid", 4: None, 5: "passed", 6: "invalid",
    }  # fmt: skip
    assert said[4]["fault"].startswith("skipped: ")
    assert said[6]["reason"] == "The reply was cut off at the limit of tokens."


def test_tasks_hold_what_a_participant_may_read(folder: Path) -> None:
    problems = write_problems(folder, [problem("a/1"), choice()])
    ran = run(folder, "tasks", "--problems", problems)
    first, second = map(json.loads, ran.stdout.splitlines())
    assert (first["task_id"], first["kind"], first["group"]) == ("a/1", "command", "shell")
    assert [message["role"] for message in first["messages"]] == ["system", "user"]
    assert "Write `solution.sh`" in first["messages"][1]["content"]
    assert "sh solution.sh\n" not in ran.stdout
    assert "8 warps" not in second["messages"][1]["content"]


@pytest.mark.parametrize(
    ("options", "words"), [((), "Give --problems PACK"), (("--release", "x"), "--release needs --entrant and --track")]
)
def test_options_that_do_not_fit_are_refused(folder: Path, options: tuple[str, ...], words: str) -> None:
    ran = run(folder, "judge", *options)
    assert (ran.status, ran.stdout) == (2, "")
    assert words in ran.stderr
