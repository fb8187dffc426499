"""Problem and solution records are read with ComputeEval's rules and written back to the byte."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from problems.formats.compute_eval.graded import GradedSolution
from problems.spec.command.problem import problem_from
from problems.spec.errors import RecordError
from problems.spec.profile import Profile
from problems.spec.records import parse_record
from problems.spec.solution import FileSolution, PatchSolution, SourceFile, parse_solution
from tests.formats.sources import PROBLEMS, SOLUTIONS, members, problem, problem_fields


def read(profile: Profile = Profile.COMPUTE_EVAL, **changes: object):
    return problem_from(problem_fields(**changes), profile)


def test_golden_problems_are_written_back_to_the_byte() -> None:
    lines = members(PROBLEMS)["problems.jsonl"].splitlines(keepends=True)
    assert [parse_record(line, Profile.COMPUTE_EVAL).to_line() for line in lines] == lines


def test_golden_solutions_are_written_back_to_the_byte() -> None:
    lines = members(SOLUTIONS)["solutions.jsonl"].splitlines(keepends=True)
    assert [parse_solution(line).to_line() for line in lines] == lines


def test_a_record_that_becomes_part_of_a_graded_row_keeps_what_podium_adds() -> None:
    record = read(Profile.PODIUM, metadata={"podium": {"work_checked": True, "flops": 7}})
    GradedSolution.of(record, FileSolution(task_id=record.task_id), "pack", passed=True, skipped=False)
    assert (record.profile, record.podium.work_checked, record.podium.flops) == (Profile.PODIUM, True, 7)


def test_absent_and_null_compute_capability_differ() -> None:
    assert read().compute_capability == "8.0"
    assert read(compute_capability=None).compute_capability is None


def test_absent_timing_mode_means_process() -> None:
    assert read().timing_mode.type == "process"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"timing_mode": None}, "timing_mode"),
        ({"timing_mode": {"type": "sundial"}}, "use one of 'process'"),
        ({"group": ...}, "field `group` is missing"),
        ({"date": ...}, "field `date` is missing"),
        ({"metadata": ...}, "field `metadata` is missing"),
        ({"test_command": ...}, "field `test_command` is missing"),
        ({"type": ...}, "field `type` is missing"),
        ({"group": "foo"}, "is not one of cuda-runtime"),
        ({"type": "cuda_rust"}, "use one of 'cuda_cpp', 'cuda_python'"),
        ({"type": "cpp"}, "use one of 'cuda_cpp', 'cuda_python'"),
        ({"min_cuda_toolkit": 12.0}, "min_cuda_toolkit"),
        ({"source_references": {}}, "must give `any` or `all`"),
        ({"source_references": {"any": None, "all": None}}, "must give `any` or `all`"),
        ({"metadata": {"releases": ["2031-7"]}}, "metadata.releases.0"),
        ({"context_files": [{"path": "a"}]}, "context_files.0.content"),
        ({"baseline_solution": {"type": "file", "task_id": "x", "files": None}}, "baseline_solution.files"),
    ],
)
def test_bad_problem_fields_are_named(changes: dict[str, object], words: str) -> None:
    with pytest.raises(RecordError, match=None) as refusal:
        read(**changes)
    assert words in str(refusal.value)


def test_unknown_fields_are_dropped_and_unknown_metadata_kept() -> None:
    metadata = {"releases": [], "author": "someone"}
    written = json.loads(read(arch_list=["80"], metadata=metadata).to_line())
    assert "arch_list" not in written
    assert written["metadata"]["author"] == "someone"


@pytest.mark.parametrize("spelling", ["f", ["f"], {"all": ["f"]}])
def test_source_references_are_written_in_one_form(spelling: object) -> None:
    written = json.loads(read(source_references=spelling).to_line())
    assert written["source_references"] == {"any": None, "all": ["f"]}


@pytest.mark.parametrize("seconds", [None, 0, 0.0, "0"])
def test_no_timeout_means_the_defaults(seconds: object) -> None:
    subject = read(timeout_seconds=seconds)
    assert subject.effective_build_timeout_seconds == 60
    assert subject.effective_test_timeout_seconds == 60
    assert subject.effective_benchmark_timeout_seconds == 300


def test_a_timeout_holds_for_every_step() -> None:
    subject = read(timeout_seconds="7.5")
    assert subject.effective_build_timeout_seconds == subject.effective_benchmark_timeout_seconds == 7.5


def test_podium_packs_free_types_groups_and_releases() -> None:
    subject = read(Profile.PODIUM, type="cpp", group="sorting", metadata={"releases": ["spring"]})
    assert (subject.group, subject.language, subject.profile) == ("sorting", "cpp", Profile.PODIUM)


def test_podium_metadata_is_read_and_written_back() -> None:
    podium = {"title": "Sum", "flops": 12, "build_only": ["test/main.cu"], "limits": {"processes": 4}}
    subject = read(Profile.PODIUM, metadata={"podium": podium})
    assert subject.title == "Sum"
    assert subject.podium.limits.set_values() == {"processes": 4}
    assert json.loads(subject.to_line())["metadata"]["podium"] == podium


def test_outputs_are_a_part_of_what_is_moved() -> None:
    assert read(Profile.PODIUM, metadata={"podium": {"bytes": 12, "output_bytes": 12}}).podium.output_bytes == 12
    assert read(Profile.PODIUM, metadata={"podium": {"output_bytes": 12}}).podium.bytes is None
    with pytest.raises(RecordError, match="`output_bytes` must not exceed `bytes`"):
        read(Profile.PODIUM, metadata={"podium": {"bytes": 12, "output_bytes": 13}})


@pytest.mark.parametrize("podium", [{"tittle": "x"}, {"flops": -1}, {"build_only": ["../x"]}, {"harness": "none"}, []])
def test_bad_podium_metadata_is_refused(podium: object) -> None:
    with pytest.raises(RecordError):
        read(Profile.PODIUM, metadata={"podium": podium})


def test_strict_packs_do_not_look_at_podium_metadata() -> None:
    subject = read(metadata={"podium": {"title": 7}})
    assert subject.title == "T/0"
    assert json.loads(subject.to_line())["metadata"]["podium"] == {"title": 7}


def test_a_lone_surrogate_is_refused_without_a_crash() -> None:
    with pytest.raises(RecordError, match="lone surrogate"):
        parse_record(json.dumps(problem_fields(prompt="\ud800")), Profile.COMPUTE_EVAL)
    with pytest.raises(RecordError, match="lone surrogate"):
        parse_solution('{"type":"file","task_id":"a","files":[{"path":"x","content":"\\udfff"}]}')


def test_solutions_default_and_keep() -> None:
    subject = parse_solution('{"type":"file","task_id":"a","schema_version":"1","debug":{"x":1}}')
    assert isinstance(subject, FileSolution)
    assert subject.to_line() == b'{"schema_version":1,"type":"file","task_id":"a","files":[],"debug":{"x":1}}\n'


def test_patches_are_read() -> None:
    assert isinstance(parse_solution('{"type":"patch","task_id":"a","patch":""}'), PatchSolution)


@pytest.mark.parametrize(
    "line",
    [
        b'\xef\xbb\xbf{"type":"file","task_id":"a"}',
        b'{"task_id":"a","files":[]}',
        b'{"type":"file","files":[]}',
        b'{"type":"file","task_id":"a","files":null}',
        b'{"type":"file","task_id":"a","files":[{"path":"x"}]}',
        b'{"type":"patch","task_id":"a"}',
        b"[]",
        b"{",
        b"\xff",
        b"[" * 100_000,
    ],
)
def test_bad_solutions_are_refused(line: bytes) -> None:
    with pytest.raises(RecordError):
        parse_solution(line)


def test_raw_control_characters_in_strings_pass() -> None:
    subject = parse_solution(b'{"type":"file","task_id":"a","files":[{"path":"x","content":"a\tb"}]}')
    assert isinstance(subject, FileSolution)
    assert subject.files[0].content == "a\tb"


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)


@given(task_id=TEXT, files=st.lists(st.tuples(TEXT, TEXT), max_size=4))
def test_any_solution_survives_writing_and_reading(task_id: str, files: list[tuple[str, str]]) -> None:
    subject = FileSolution(task_id=task_id, files=[SourceFile(path=p, content=c) for p, c in files])
    line = subject.to_line()
    assert parse_solution(line) == subject
    assert line.count(b"\n") == 1
    assert line == json.dumps(json.loads(line), ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


@given(prompt=TEXT, tags=st.lists(TEXT, max_size=3), seconds=st.none() | st.integers(0, 10**6))
def test_any_problem_survives_writing_and_reading(prompt: str, tags: list[str], seconds: int | None) -> None:
    subject = problem(prompt=prompt, metadata={"tags": tags}, timeout_seconds=seconds)
    assert parse_record(subject.to_line(), Profile.COMPUTE_EVAL) == subject
    assert parse_record(subject.to_line(), Profile.COMPUTE_EVAL).to_line() == subject.to_line()
