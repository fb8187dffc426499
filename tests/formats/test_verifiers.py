"""Files of verifiers are read whatever version wrote them; failures of the infrastructure are told from replies."""

import json
from pathlib import Path
from typing import Any

import pytest

from problems.formats.errors import PackRefused
from problems.formats.verifiers.files import read_rollouts, rollouts_file, run_facts
from problems.formats.verifiers.rollouts import SavedRollout
from tests.formats.verifiers_files import episode, row_015, row_016, trace, write


def read(folder: Path, *rows: dict[str, Any], name: str = "results.jsonl") -> list[SavedRollout]:
    return list(read_rollouts(write(folder, rows, name)))


def test_a_row_of_015_is_named_by_its_info_and_keeps_its_wrong_id_apart(tmp_path: Path) -> None:
    info = {"original_id": "ch02-scale", "task_dir": "eval-tasks/ch02-scale", "chapter": 2, "exercise": "1"}
    (one,) = read(tmp_path, row_015(7, "Task: ch02-scale", "the reply", info, reward=1.5))
    assert list(one.names) == ["ch02-scale", "eval-tasks/ch02-scale", "qa-2-1"]
    assert (one.reply, one.asked, one.reward, one.stated_id) == ("the reply", "Task: ch02-scale", 1.5, 7)
    assert (one.fault, one.unscored) == ("", "")


def test_a_row_of_016_has_an_example_id_that_is_no_stated_id(tmp_path: Path) -> None:
    (one,) = read(tmp_path, row_016(7, "q", "r", {"task_id": "a/1"}))
    assert one.stated_id is None
    assert next(one.names) == "a/1"


@pytest.mark.parametrize(
    ("columns", "fault"),
    [
        ({"completion": None}, "the row has no completion"),
        ({"completion": []}, "the row has no completion"),
        (
            {"error": {"error": "APIError", "error_chain_str": "ModelError -> APIError: 503"}},
            "ModelError -> APIError: 503",
        ),
        ({"error": "SandboxError()"}, "SandboxError()"),
        ({"error": None, "completion": [{"role": "assistant", "content": ""}]}, ""),
    ],
)
def test_faults_of_rows(tmp_path: Path, columns: dict[str, Any], fault: str) -> None:
    (one,) = read(tmp_path, row_016(0, "q", "r", {"task_id": "a/1"}, **columns))
    assert one.fault == fault


def test_later_rows_have_info_as_text_and_tokens(tmp_path: Path) -> None:
    row = row_016(0, "q", "", {}, token_usage={"input_tokens": 12.0, "output_tokens": 3.0}, is_truncated=True)
    (one,) = read(tmp_path, row | {"info": json.dumps({"task_id": "a/1"})})
    assert next(one.names) == "a/1"
    assert one.usage == {"input_tokens": 12, "output_tokens": 3}
    assert one.finish_reason == "length"


def test_an_episode_of_v1_is_one_rollout_with_its_conversation_and_tokens(tmp_path: Path) -> None:
    (one,) = read(tmp_path, episode(trace("a/1", "the question", "the reply")), name="traces.jsonl")
    assert next(one.names) == "a/1"
    assert one.prompt == [{"role": "user", "content": "the question"}]
    assert one.completion == [{"role": "assistant", "content": "the reply"}]
    assert one.usage == {"prompt_tokens": 40, "completion_tokens": 5}
    assert (one.reply, one.finish_reason, one.reward, one.fault) == ("the reply", "stop", 0.5, "")


def test_an_older_line_of_v1_is_one_bare_trace(tmp_path: Path) -> None:
    bare = trace("a/1", "q", "r", rewards={"passed": 1.0})
    del bare["ok"]
    fine, failed = read(tmp_path, bare, bare | {"errors": [{"type": "ProviderError", "message": "503"}]})
    assert (fine.reply, fine.reward, fine.fault) == ("r", 1.0, "")
    assert failed.fault == "ProviderError: 503"


@pytest.mark.parametrize(
    ("changes", "fault", "unscored"),
    [
        ({"ok": True, "errors": [{"type": "SandboxError", "message": "gone"}]}, "", ""),
        ({"ok": False, "errors": [{"type": "SandboxError", "message": "gone"}]}, "SandboxError: gone", ""),
        ({"ok": False, "is_timeout": True}, "a deadline of the evaluation expired", ""),
        ({"ok": False, "stop_condition": "error"}, "it ended without success (error)", ""),
        (
            {"ok": False, "errors": [{"type": "TaskError", "message": "task T scoring: OSError: site is away"}]},
            "",
            "TaskError: task T scoring: OSError: site is away",
        ),
        (
            {"ok": False, "errors": [{"type": "TaskError", "message": "task T setup: no"}]},
            "TaskError: task T setup: no",
            "",
        ),
    ],
)
def test_faults_of_traces(tmp_path: Path, changes: dict[str, Any], fault: str, unscored: str) -> None:
    """An error of an earlier attempt is none; a failure to score leaves a reply that Podium can grade."""
    (one,) = read(tmp_path, episode(trace("a/1", "q", "r", **changes)))
    assert (one.fault, one.unscored) == (fault, unscored)


def test_an_episode_without_a_trace_is_a_fault_and_judges_are_passed_over(tmp_path: Path) -> None:
    failed = episode(errors=[{"type": "EnvError", "message": "no box"}])
    judge = trace("a/1", "judge this", "good", agent={"name": "judge", "trainable": False})
    first, second = read(tmp_path, failed, episode(trace("a/1", "q", "r"), judge))
    assert (first.fault, next(first.names)) == ("EnvError: no box", "a/1")
    assert second.reply == "r"


def test_a_branch_is_followed_and_tool_calls_get_the_usual_shape(tmp_path: Path) -> None:
    call = {"id": "1", "type": "function", "name": "run", "arguments": "{}"}
    nodes = [
        {"parent": None, "message": {"role": "user", "content": "q"}},
        {"parent": 0, "message": {"role": "assistant", "content": "abandoned"}, "sampled": True},
        {"parent": 0, "message": {"role": "assistant", "content": "", "tool_calls": [call]}, "sampled": True},
        {"parent": 2, "message": {"role": "tool", "content": "ok", "tool_call_id": "1"}},
        {"parent": 3, "message": {"role": "assistant", "content": "done"}, "sampled": True},
        {"parent": 9, "message": {"role": "user", "content": "of nobody"}},
    ]
    (one,) = read(tmp_path, episode(trace("a/1", "q", "r", nodes=nodes)))
    assert [message.get("content") for message in one.completion] == ["", "ok", "done"]
    assert one.completion[0]["tool_calls"] == [{"function": call}]
    assert one.reply == "done"


def test_a_lone_surrogate_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    path.write_text('{"completion": "half \\ud83d", "info": {"task_id": "a/1"}}\n')
    (one,) = read_rollouts(path)
    assert one.reply == "half ?"


@pytest.mark.parametrize(
    ("line", "words"),
    [("{", "the line is not valid JSON"), ('{"reward": 1}', "the line is no rollout"), ("[]", "object")],
)
def test_a_line_that_is_no_rollout_refuses_the_file_with_its_number(tmp_path: Path, line: str, words: str) -> None:
    path = write(tmp_path, [row_016(0, "q", "r", {})])
    path.write_text(path.read_text() + "\n" + line + "\n")
    with pytest.raises(PackRefused, match=words) as refused:
        list(read_rollouts(path))
    assert refused.value.line == 3


def test_a_runs_folder_leads_to_its_file_and_facts(tmp_path: Path) -> None:
    path = write(tmp_path, [row_016(0, "q", "r", {})])
    (tmp_path / "metadata.json").write_text('{"env_id": "pmpp", "model": "m", "date": "x"}')
    assert rollouts_file(tmp_path) == path
    assert run_facts(path) == {"env_id": "pmpp", "model": "m"}
    with pytest.raises(PackRefused, match="neither"):
        rollouts_file(tmp_path / "..")
