"""The releases that `make demo` grades on this machine: in which sandbox, and with which solutions of their
entrants."""

import io
import re
from pathlib import Path

import pytest
import yaml

from demo.entrants import load_entrants, solution_pack
from demo.releases import (
    COMMANDS,
    EXERCISES,
    FUNCTIONS,
    LEFT_OUT,
    TEXTBOOK,
    DemoRelease,
    load_releases,
    why_without_functions,
    without,
)
from problems.formats.compute_eval.directory import read_problem_directory
from problems.formats.compute_eval.packs import read_solution_pack
from problems.spec.kinds import Kind
from problems.spec.profile import Profile
from problems.spec.solution import parse_solution
from runners.agent.sandbox import choose
from tests.requirements import requires

ENTRANTS = load_entrants(FUNCTIONS / "entrants")
SLUGS = sorted(path.parent.name for path in FUNCTIONS.glob("problems/*/def.py"))


@pytest.mark.rest
@requires("bubblewrap")
def test_the_demo_grades_problems_of_all_kinds_in_a_sandbox() -> None:
    sandbox = choose("bubblewrap")
    commands, functions, textbook = load_releases(sandbox)
    sandbox.close()
    assert {record.problem.kind for record in commands.pack.records} == {Kind.COMMAND}
    assert {record.problem.kind for record in functions.pack.records} == {Kind.FUNCTION}
    assert sorted(record.problem.task_id for record in functions.pack.records) == sorted(set(SLUGS) - LEFT_OUT)
    assert "this demo leaves out 4 of the release's 12 problems." in (functions.pack.metadata.description or "")
    for entrant in functions.entrants:
        assert {slug for slug, _ in entrant.expected} == set(SLUGS) - LEFT_OUT
    assert [one.slug for one in functions.entrants] == ["demo-scalar", "demo-vector"]
    assert {record.problem.kind for record in textbook.pack.records} == set(Kind)
    kept = {record.problem.task_id for record in textbook.pack.records if record.problem.kind is Kind.COMMAND}
    assert kept == EXERCISES
    for entrant in textbook.entrants:
        assert len(entrant.expected) == len(EXERCISES) + 2
        assert len(entrant.replies) == 76


def test_a_release_without_some_of_its_problems_says_so() -> None:
    whole = DemoRelease(read_problem_directory(COMMANDS), load_entrants(COMMANDS / "entrants"))
    left_out, *kept = [record.problem.task_id for record in whole.pack.records]
    part = without({left_out}, whole)
    assert [record.problem.task_id for record in part.pack.records] == kept
    described = str(part.pack.metadata.description)
    assert described.startswith(str(whole.pack.metadata.description).strip())
    assert described.endswith(f"To be ready sooner, this demo leaves out 1 of the release's {len(kept) + 1} problems.")


@pytest.mark.parametrize("folder", [COMMANDS, FUNCTIONS, TEXTBOOK], ids=str)
def test_no_description_counts_problems_of_which_the_demo_may_leave_some_out(folder: Path) -> None:
    described = yaml.safe_load((folder / "release.yaml").read_text())["description"]
    numbers = "two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|[a-z]+teen|twenty[-a-z]*|thirty[-a-z]*|[0-9]+"
    assert not re.findall(rf"\b(?:{numbers})\s(?:\S+\s)?(?:problems|functions|exercises)", described, re.IGNORECASE)


def test_without_a_sandbox_the_functions_are_left_out_with_the_reason() -> None:
    with pytest.warns(UserWarning, match="unconfined"):
        sandbox = choose("unconfined")
    (commands,) = load_releases(sandbox)
    sandbox.close()
    assert commands.pack.metadata.release == "demo-cpu-1"
    assert "functions-cpu and examples/textbook-cpu are left out" in why_without_functions(sandbox)
    assert "use bubblewrap or docker" in why_without_functions(sandbox)


@pytest.mark.parametrize("entrant", ENTRANTS, ids=lambda one: one.slug)
def test_a_function_entrant_sends_one_file_for_every_problem(entrant) -> None:
    pack = solution_pack(entrant, "demo-functions-cpu-1", {slug: slug for slug in SLUGS})
    sent = read_solution_pack(io.BytesIO(pack), "demo-solutions.tar.gz", Profile.PODIUM)
    solutions = [parse_solution(line.line) for line in sent.lines]
    assert [one.task_id for one in solutions] == SLUGS
    assert all([Path(file.path).stem for file in one.files] == ["solution"] for one in solutions)


def write_sample(folder: Path, content: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "solution.py").write_text(content, encoding="utf-8")


def test_the_only_sample_of_a_problem_needs_no_folder_for_its_index(tmp_path: Path) -> None:
    write_sample(tmp_path / "one" / "add", "one = 1\n")
    for index in range(2):
        write_sample(tmp_path / "one" / "scan" / str(index), f"scan = {index}\n")
    (tmp_path / "one" / "entrant.yaml").write_text(
        "{name: one, title: One, kind: model, organisation: Podium, description: Made up.,"
        " expected: {add: [passed, invalid], scan: [passed, passed]}}",
        encoding="utf-8",
    )
    (entrant,) = load_entrants(tmp_path)
    pack = solution_pack(entrant, "made-up-1", {"add": "add", "scan": "scan"})
    sent = read_solution_pack(io.BytesIO(pack), "made-up-solutions.tar.gz", Profile.PODIUM)
    contents = [(one.task_id, one.files[0].content) for one in (parse_solution(line.line) for line in sent.lines)]
    assert contents == [("add", "one = 1\n"), ("scan", "scan = 0\n"), ("scan", "scan = 1\n")]
