"""`podium evaluate` as a check: JUnit, Markdown, annotations and a threshold, whatever the solutions print."""

import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from tests.evaluate.packs_on_disk import Ran, evaluate, write_problems, write_solutions
from tests.packs import problem, solution

HOSTILE = r"""printf '\001\033[31m\0::error::forged\r::stop-commands::x\n##[add-mask]a\n'
printf '</failure>]]>&lt;|`@user`<img src=x>%%0A\n'
printf '\377\356'
exit 1
"""


def shell(task_id: str, **changes: Any) -> dict[str, Any]:
    return problem(task_id, test_command="sh solution.sh", **changes)


@pytest.fixture
def checked(folder: Path) -> Path:
    """Problems of which the pack passes one, fails one and is skipped in one."""
    needs_gpu = shell("a/skipped", type="cuda_cpp", compute_capability="99.0")
    write_problems(folder, [shell("a/passes"), shell("a/fails"), needs_gpu])
    answers = [solution("a/passes", "exit 0"), solution("a/fails", HOSTILE), solution("a/skipped", "exit 0")]
    write_solutions(folder, answers)
    return folder


def run(folder: Path, *options: str | Path) -> Ran:
    packs = (folder / "test-1-problems.tar.gz", "--solutions", folder / "test-1-one-solutions.tar.gz")
    return evaluate(folder, *packs, "--out", folder / "g.jsonl", *options)


def test_junit_counts_and_says_why_and_is_well_formed_whatever_was_printed(checked: Path) -> None:
    ran = run(checked, "--junit", checked / "reports" / "junit.xml")
    assert ran.status == 0
    root = ET.fromstring((checked / "reports" / "junit.xml").read_bytes())
    (suite,) = root.findall("testsuite")
    assert {key: suite.get(key) for key in ("name", "tests", "failures", "errors", "skipped")} == {
        "name": "test-1-one", "tests": "3", "failures": "1", "errors": "0", "skipped": "1",
    }  # fmt: skip
    cases = {case.get("name"): case for case in suite.findall("testcase")}
    assert list(cases["a/passes sample 1"]) == []
    failure = cases["a/fails sample 1"].find("failure")
    assert failure is not None
    assert failure.get("type") == "test_failed"
    assert failure.get("message") == "The test ended with exit status 1."
    assert "</failure>]]>&lt;|`@user`<img src=x>%0A" in (failure.text or "")
    skipped = cases["a/skipped sample 1"].find("skipped")
    assert skipped is not None and skipped.get("message")


def test_the_summary_shows_what_was_printed_as_plain_text(checked: Path) -> None:
    run(checked, "--summary", checked / "summary.md")
    text = (checked / "summary.md").read_text(encoding="utf-8")
    assert "| <code>test&#45;1&#45;one</code> | 3 | 1 | 1 | 1 | 0 | 50.0 % |" in text
    row = next(line for line in text.splitlines() if "a&#47;fails" in line)
    assert row.count("|") == 5
    assert re.sub(r"</?code>", "", row).isprintable()
    assert not re.search(r"[<@`\[]", re.sub(r"</?code>", "", row))


def test_the_summary_of_a_github_step_is_added_to_what_is_there(checked: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shared, own = checked / "step.md", checked / "own.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(shared))
    for path in (shared, own):
        path.write_text("before\n", encoding="utf-8")
        run(checked, "--summary", path)
    assert shared.read_text().startswith("before\n## Podium")
    assert own.read_text().startswith("## Podium")


def test_annotations_are_commands_of_ours_alone(checked: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    ran = run(checked)
    lines = re.split(r"[\r\n]", ran.stderr + "\n" + ran.stdout)
    commands = [line for line in lines if line.lstrip().startswith("::") or "##[" in line]
    pack = checked / "test-1-one-solutions.tar.gz"
    (only,) = commands
    head = f"::error file={pack},title=a/fails sample 1%3A test_failed::The test ended with exit status 1.%0A"
    assert only.startswith(head)
    assert "::error::forged%0D::stop-commands::x%0A## [add-mask]a" in only
    assert only.endswith("%250A%0A��")


def test_outside_of_github_nothing_is_annotated_unless_asked(checked: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    assert "::error" not in run(checked).stderr
    assert "::error file=" in run(checked, "--annotations").stderr


def test_an_annotation_names_the_line_of_the_solution_that_the_compiler_names(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build = 'echo "solution.sh:7:3: error: no such thing" >&2; exit 1'
    problems = write_problems(folder, [shell("a/1", build_command=build)])
    sample = folder / "kernels" / "a_1" / "0"
    sample.mkdir(parents=True)
    (sample / "solution.sh").write_text("exit 0\n")
    monkeypatch.chdir(folder)
    ran = evaluate(folder, problems, "--solutions", "kernels", "--out", "g.jsonl", "--annotations")
    assert "::error file=kernels/a_1/0/solution.sh,line=7,title=a/1 sample 1%3A build_failed::" in ran.stderr


@pytest.mark.parametrize(("threshold", "status"), [("0", 0), ("0.5", 0), ("0.51", 4), ("1", 4)])
def test_the_threshold_decides_the_exit_status(checked: Path, threshold: str, status: int) -> None:
    ran = run(checked, "--fail-under", threshold)
    assert ran.status == status
    assert ("pass@1 is 0.5, below" in ran.stderr) is (status == 4)


def test_a_pack_of_which_all_is_skipped_reaches_no_threshold(folder: Path) -> None:
    write_problems(folder, [shell("a/1", type="cuda_cpp", compute_capability="99.0")])
    write_solutions(folder, [solution("a/1", "exit 0")])
    ran = run(folder, "--fail-under", "0")
    assert ran.status == 4
    assert "no sample could be graded on this machine" in ran.stderr


def test_a_second_run_reports_the_rows_of_the_first(checked: Path) -> None:
    run(checked)
    run(checked, "--junit", checked / "j.xml")
    root = ET.fromstring((checked / "j.xml").read_bytes())
    assert (root.get("tests"), root.get("failures"), root.get("skipped")) == ("3", "1", "1")


def test_bad_input_is_annotated_too(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    problems = write_problems(folder, [shell("a/1")])
    empty = folder / "empty"
    empty.mkdir()
    ran = evaluate(folder, problems, "--solutions", empty, "--out", folder / "g.jsonl")
    assert ran.status == 2
    assert "::error title=podium evaluate::the folder " in ran.stderr
