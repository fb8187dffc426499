"""A folder becomes a record, and a tree of folders a pack that may mix kinds."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from problems.formats.compute_eval.packs import problem_pack_from
from problems.formats.errors import PackRefused
from problems.formats.functions import inside
from problems.formats.functions.comparison import differences
from problems.formats.functions.folder import read_folder
from problems.formats.functions.inside.loaded import load
from problems.formats.functions.inside.make_manifest import manifest_of
from problems.formats.functions.inside.static import manifest_as_read
from problems.formats.functions.pack import read_function_directory, read_problem
from problems.spec.digests import grading_digest
from problems.spec.function.manifest import Manifest
from problems.spec.function.problem import FunctionProblem
from problems.spec.profile import Profile
from problems.spec.solution import FileSolution
from tests.formats.functions.definitions import SCALE_IN_PLACE, SOFTMAX
from tests.formats.functions.tensara_definitions import MARCH_2025

HEAD = """---
slug: "row-softmax"
title: "Row softmax"
difficulty: "EASY"
tags: ["reduction"]
---

Softmax of every row.
"""
MORE = (
    "group: chapter-1\nlanguages: [cpp]\ntime_limit_seconds: 5\ndate: 2026-11-22\nlimits: {memory_bytes: 1000}\n---\n\n"
)


def in_this_process(path: Path) -> Manifest:
    """Stands for the sandbox: the definitions here are our own."""
    return Manifest.model_validate(manifest_of(load(str(path / "def.py"))))


def folder(root: Path, definition: str = SOFTMAX, head: str = HEAD) -> Path:
    root.mkdir(parents=True, exist_ok=True)
    (root / "def.py").write_text(definition)
    (root / "problem.md").write_text(head)
    return root


def test_a_folder_becomes_a_record(tmp_path: Path) -> None:
    problem = read_problem(folder(tmp_path), in_this_process)
    assert (problem.task_id, problem.title, problem.group) == ("row-softmax", "Row softmax", "functions")
    assert (problem.metadata.difficulty, problem.metadata.tags) == ("easy", ["reduction"])
    assert (problem.device, problem.languages) == ("cpu", ["cpp", "python"])
    assert problem.prompt == "Softmax of every row.\n"
    assert problem.definition.content == SOFTMAX


def test_the_front_matter_may_say_languages_group_and_limits(tmp_path: Path) -> None:
    head = HEAD.replace("---\n\n", MORE)
    problem = read_problem(folder(tmp_path, head=head), in_this_process)
    assert (problem.group, problem.languages, problem.time_limit_seconds) == ("chapter-1", ["cpp"], 5)
    assert (problem.date, problem.podium.limits.memory_bytes) == ("2026-11-22", 1000)
    assert problem.baseline_solution is None


def test_known_bad_solutions_expect_a_wrong_answer_unless_said_otherwise(tmp_path: Path) -> None:
    bad = folder(tmp_path) / "known_bad"
    bad.mkdir()
    (bad / "zeros.cpp").write_text("// zeros")
    (bad / "sleeps.py").write_text("# sleeps")
    (bad / "expect.json").write_text('{"sleeps": "timed_out"}')
    found = read_problem(tmp_path, in_this_process).podium.known_bad
    assert [(one.name, one.expect, one.files[0].path) for one in found] == [
        ("sleeps", "timed_out", "solution.py"), ("zeros", "wrong_answer", "solution.cpp")
    ]  # fmt: skip


def test_an_expert_is_kept_beside_the_reference(tmp_path: Path) -> None:
    baselines = folder(tmp_path) / "baselines"
    baselines.mkdir()
    before = read_problem(tmp_path, in_this_process)
    (baselines / "expert.py").write_text("def solution(x, y, rows, cols): pass\n")
    problem = read_problem(tmp_path, in_this_process)
    assert list(problem.baselines) == ["reference", "expert"]
    assert problem.baselines["expert"].files[0].content == "def solution(x, y, rows, cols): pass\n"
    assert grading_digest(problem, None) == grading_digest(before, None), "results do not depend on it"
    (baselines / "expert.py").write_text("def solution(x): pass\n")
    with pytest.raises(PackRefused, match=r"the baseline `expert` cannot be a solution: solution\.py line 1"):
        read_problem(tmp_path, in_this_process)


def test_an_authors_baseline_is_taken_and_checked(tmp_path: Path) -> None:
    baselines = folder(tmp_path) / "baselines"
    baselines.mkdir()
    (baselines / "reference.py").write_text("def solution(x, y, rows, cols): pass\n")
    baseline = read_problem(tmp_path, in_this_process).reference
    assert isinstance(baseline, FileSolution)
    assert baseline.files[0].content == "def solution(x, y, rows, cols): pass\n"
    (baselines / "reference.py").write_text("def solution(x): pass\n")
    with pytest.raises(PackRefused, match=r"the baseline `reference` cannot be a solution: solution\.py line 1"):
        read_problem(tmp_path, in_this_process)


def test_the_reference_is_a_baseline_that_runs_where_a_solution_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = read_problem(folder(tmp_path, SCALE_IN_PLACE + '\n# "quotes" \\ and 🎉\n'), in_this_process)
    baseline = problem.reference
    assert baseline is not None
    assert problem.rules().why_bad(baseline.files) == ""
    monkeypatch.setitem(sys.modules, "inside", inside)
    names: dict[str, object] = {}
    from problems.formats.functions.inside import reference

    monkeypatch.setitem(sys.modules, "inside.reference", reference)
    exec(baseline.files[0].content, names)
    values, flags = np.array([-20, 5]), np.zeros(2, bool)
    names["solution"](np.arange(4), values, flags, 2, 2)  # type: ignore[operator]
    assert (values.tolist(), flags.tolist()) == ([-16, 9], [False, True])


def test_a_tree_may_mix_kinds(tmp_path: Path) -> None:
    folder(tmp_path / "softmax")
    command = tmp_path / "command"
    command.mkdir()
    (command / "problem-spec.yaml").write_text(
        "type: cpp\ntask_id: C/1\ndate: '2026'\nprompt: p\nmetadata: {}\ngroup: g\ntest_command: ./test\n"
    )
    pack = read_function_directory(tmp_path, in_this_process)
    assert [record.problem.kind.value for record in pack.records] == ["command", "function"]
    assert pack.profile is Profile.PODIUM
    again = problem_pack_from(pack.metadata_bytes, pack.jsonl_bytes)
    assert again.digest == pack.digest == read_function_directory(tmp_path, in_this_process).digest
    assert isinstance(again.records[1].problem, FunctionProblem)


def test_a_strict_release_takes_no_functions(tmp_path: Path) -> None:
    folder(tmp_path / "softmax")
    (tmp_path / "release.yaml").write_text("release: internal\n")
    with pytest.raises(PackRefused, match="function problems need `profile: podium/1`"):
        read_function_directory(tmp_path, in_this_process)


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("problem.md", "No front matter", "must begin with front matter"),
        ("problem.md", "---\n: [\n---\n", "problem.md"),
        ("problem.md", "---\njust words\n---\n", "must be a mapping"),
        ("problem.md", "---\nslugg: a\n---\n", "unknown field `slugg`"),
        ("problem.md", "---\nslug: a\nlanguages: [rust]\n---\n", "languages"),
        ("problem.md", "---\nslug: a\ndevice: tpu\n---\n", "device"),
        ("known_bad/expect.json", "[]", "must map"),
        ("known_bad/expect.json", "{", "expect.json"),
        ("known_bad/expect.json", '{"gone": "timed_out"}', "names `gone`"),
        ("known_bad/expect.json", '{"bad": "skipped"}', "no contestant's verdict"),
        ("baselines/reference.cpp", "", "keep one of the baselines"),
    ],
)
def test_a_folder_that_cannot_be_read_is_refused_with_words(
    tmp_path: Path, file: str, content: str, message: str
) -> None:
    folder(tmp_path)
    for name in ("known_bad/bad.py", "baselines/reference.py"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text("")
    (tmp_path / file).write_text(content)
    with pytest.raises(PackRefused, match=message):
        read_problem(tmp_path, in_this_process)


PARAMETERS = "parameters:\n" + "".join(f"  - {{name: {name}}}\n" for name in ("a", "f", "out", "m", "n")) + "---\n\n"


def test_the_statement_names_the_parameters_of_the_form_of_march_2025(tmp_path: Path) -> None:
    made = Manifest.model_validate(manifest_as_read(str(folder(tmp_path, MARCH_2025) / "def.py")))
    (tmp_path / "problem.md").write_text(HEAD.replace("---\n\n", PARAMETERS))
    problem = read_problem(tmp_path, lambda _: made)
    assert problem.signature("python") == "def solution(a, f, out, m, n)"
    assert differences(problem.manifest, made) == []
    assert (problem.device, problem.languages) == ("gpu", ["cuda", "triton", "python"])


def test_a_missing_statement_or_a_link_is_refused(tmp_path: Path) -> None:
    folder(tmp_path)
    (tmp_path / "problem.md").unlink()
    with pytest.raises(PackRefused, match=r"problem\.md is missing"):
        read_folder(tmp_path)
    (tmp_path / "problem.md").symlink_to("/etc/hostname")
    with pytest.raises(PackRefused, match="is a link"):
        read_folder(tmp_path)


def test_a_manifest_is_json(tmp_path: Path) -> None:
    folder(tmp_path)
    assert json.loads(in_this_process(tmp_path).model_dump_json())["class_name"] == "RowSoftmax"
