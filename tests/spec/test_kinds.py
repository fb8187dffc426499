"""A record's kind names its reader; a record without one is a command problem."""

import json
from typing import Any

import pytest

from problems.formats.compute_eval.packs import problem_pack_from
from problems.formats.errors import PackRefused
from problems.spec.command.problem import CommandProblem
from problems.spec.digests import grading_digest
from problems.spec.errors import RecordError
from problems.spec.hardware import Hardware
from problems.spec.kinds import NODE_KINDS, SETTLED_BY, Kind
from problems.spec.profile import Profile
from problems.spec.record import FileRole
from problems.spec.records import parse_record
from tests.formats.sources import problem_fields


def line(**changes: Any) -> bytes:
    return json.dumps(problem_fields(**changes)).encode() + b"\n"


def test_a_record_without_a_kind_is_a_command_problem() -> None:
    record = parse_record(line(), Profile.PODIUM)
    assert isinstance(record, CommandProblem)
    assert record.kind is Kind.COMMAND


def test_a_command_problem_is_written_without_its_kind() -> None:
    assert (
        parse_record(line(kind="command"), Profile.PODIUM).to_line() == parse_record(line(), Profile.PODIUM).to_line()
    )


@pytest.mark.parametrize("kind", ["poem", 7, None, ["command"], {}])
def test_an_unknown_kind_is_refused_by_name(kind: object) -> None:
    with pytest.raises(RecordError, match=r"field `kind` is .*; use `command`"):
        parse_record(line(kind=kind), Profile.PODIUM)


def test_compute_evals_own_packs_know_no_kinds() -> None:
    assert parse_record(line(kind="poem"), Profile.COMPUTE_EVAL).kind is Kind.COMMAND


def test_a_pack_with_an_unknown_kind_names_the_task_and_the_line() -> None:
    metadata = {"release": "spring", "total_count": 2, "profile": "podium/1"}
    lines = line(task_id="A/0") + line(task_id="A/1", kind="poem")
    with pytest.raises(PackRefused, match="task `A/1`: field `kind` is 'poem'") as refused:
        problem_pack_from(json.dumps(metadata).encode(), lines)
    assert refused.value.line == 2


def test_every_kind_is_settled_by_a_node_or_by_the_site() -> None:
    assert set(SETTLED_BY) == set(Kind)
    assert frozenset({Kind.COMMAND, Kind.FUNCTION}) == NODE_KINDS


def command(**podium: Any) -> CommandProblem:
    tests = [{"path": "test/hidden.sh", "content": "h"}, {"path": "test/open.sh", "content": "o"}]
    context = [{"path": "helper.h", "content": ""}]
    fields = {"metadata": {"podium": podium}, "context_files": context, "test_files": tests}
    record = parse_record(line(**fields), Profile.PODIUM)
    assert isinstance(record, CommandProblem)
    return record


def test_a_record_tells_which_of_its_files_are_held_out() -> None:
    files = [(one.file.path, one.role, one.is_held_out) for one in command(visible_tests=["test/open.sh"]).files]
    assert files == [
        ("helper.h", FileRole.CONTEXT, False),
        ("test/hidden.sh", FileRole.TEST, True),
        ("test/open.sh", FileRole.TEST, False),
    ]


def test_a_visible_test_command_makes_trials_test() -> None:
    assert not command().trial_runs_tests
    assert command(visible_tests=["test/open.sh"], visible_test_command="sh test/open.sh").trial_runs_tests


@pytest.mark.parametrize(
    ("podium", "words"),
    [
        ({"visible_test_command": "make check"}, "needs `visible_tests`"),
        ({"visible_test_command": " ", "visible_tests": ["test/open.sh"]}, "must not be empty"),
    ],
)
def test_a_visible_test_command_that_cannot_run_is_refused(podium: dict[str, Any], words: str) -> None:
    with pytest.raises(RecordError, match=words):
        command(**podium)


def test_results_do_not_depend_on_the_visible_test_command() -> None:
    shown = {"visible_tests": ["test/open.sh"]}
    with_command = command(**shown, visible_test_command="sh test/open.sh")
    assert grading_digest(with_command, None) == grading_digest(command(**shown), None)


def test_a_record_says_itself_why_a_track_skips_it() -> None:
    assert "CUDA problem" in command().why_skipped(Hardware("cpu"))
    assert command().why_skipped(Hardware("gpu", "NVIDIA H200", (9, 0), (13, 0))) == ""
