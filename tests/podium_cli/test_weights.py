"""`podium weights calibrate`: weights and their note from graded rows and stated rates, and what it refuses."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner, Result

from podium.cli import make_app
from problems.spec.pack import parse_problem_metadata
from tests.chapters import CHAPTERS, FAILED, PROBLEMS, PUBLISHED
from tests.packs import problem, problem_pack

GROUPS = [f"ch{chapter}" for chapter in CHAPTERS]


def calibrate(*arguments: object) -> Result:
    return CliRunner().invoke(make_app("weights"), ["weights", "calibrate", *map(str, arguments)])


def row(task_id: str, group: str, *, passed: bool, verdict: str = "", **of_problem: Any) -> dict[str, Any]:
    podium = {"verdict": verdict or ("passed" if passed else "test_failed")}
    return {
        "task_id": task_id, "passed": passed, "skipped": verdict == "skipped", "solution": {"task_id": task_id},
        "problem": {"task_id": task_id, "group": group, **of_problem}, "podium": podium,
    }  # fmt: skip


def graded(path: Path, rows: Iterable[Mapping[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(one) + "\n" for one in rows))
    return path


def chapters_of_a_model(model: int) -> Iterable[dict[str, Any]]:
    """Nine samples of each of the 53 problems: a third of those whose failures are published."""
    for group, n_problems, n_failed in zip(GROUPS, PROBLEMS, FAILED, strict=True):
        cells = [(f"{group}/{n}", sample) for sample in range(27) for n in range(n_problems)]
        for place, (task_id, sample) in enumerate(cells):
            if sample // 9 == model:
                yield row(task_id, group, passed=place >= n_failed)


def test_three_models_graded_rows_give_the_published_weights(tmp_path: Path) -> None:
    files = [graded(tmp_path / f"m{n}-graded-solutions.jsonl", chapters_of_a_model(n)) for n in range(3)]
    ran = calibrate(*files)
    assert ran.exit_code == 0
    block = yaml.safe_load(ran.stdout)
    assert block["weights"] == dict(zip(GROUPS, PUBLISHED, strict=True))
    assert list(block["weights"]) == GROUPS, "ch10 comes after ch9"
    assert "with epsilon 0.05 from m0-graded-solutions.jsonl (sha256 " in block["weights_note"]
    (line,) = [line for line in ran.stderr.splitlines() if "ch13" in line]
    assert line.replace("│", " ").split() == ["ch13", "5", "24.4", "%", "1.999393"]


def test_stated_rates_give_the_same_and_a_release_takes_them(tmp_path: Path) -> None:
    rates = [1 - failed / (27 * n) for failed, n in zip(FAILED, PROBLEMS, strict=True)]
    lines = [f"{group},{n},{rate}\n" for group, n, rate in zip(GROUPS, PROBLEMS, rates, strict=True)]
    (tmp_path / "rates.csv").write_text("group,problems,pass_rate\n" + "".join(lines))
    as_json = {group: {"problems": n, "pass_rate": rate}
               for group, n, rate in zip(GROUPS, PROBLEMS, rates, strict=True)}  # fmt: skip
    (tmp_path / "rates.json").write_text(json.dumps(as_json))
    for name in ("rates.csv", "rates.json"):
        out = tmp_path / f"{name}.yaml"
        assert calibrate(tmp_path / name, "--out", out).exit_code == 0
        head = {"release": "r", "profile": "podium/1", "total_count": 0, **yaml.safe_load(out.read_text())}
        assert parse_problem_metadata(head).weights == dict(zip(GROUPS, PUBLISHED, strict=True))


def test_questions_skipped_samples_and_platform_errors_do_not_count(tmp_path: Path) -> None:
    rows = [
        row("a/1", "a", passed=True), row("a/1", "a", passed=False, verdict="skipped"),
        row("a/2", "a", passed=False), row("a/2", "a", passed=False, verdict="platform_error"),
        row("b/1", "b", passed=True, kind="function"), row("a/q", "a", passed=True, kind="choice"),
    ]  # fmt: skip
    ran = calibrate(graded(tmp_path / "one.jsonl", rows), "--epsilon", "0.5")
    # a: 2 problems, half pass; b: 1 problem, all pass: (1.0 · 2 + 0.5) / 3 problems
    assert yaml.safe_load(ran.stdout)["weights"] == {"a": 1.2, "b": 0.6}


def test_a_group_without_a_result_is_named_and_gets_no_weight(tmp_path: Path) -> None:
    rows = [row("a/1", "a", passed=True), row("b/1", "b", passed=False, verdict="platform_error")]
    ran = calibrate(graded(tmp_path / "one.jsonl", rows))
    assert ran.exit_code == 1
    assert yaml.safe_load(ran.stdout)["weights"] == {"a": 1.0}
    assert "no result, and so no weight, for: b" in ran.stderr


def test_a_pack_says_which_groups_there_are_and_how_large(tmp_path: Path) -> None:
    pack = problem_pack([problem("a/1", group="a"), problem("a/2", group="a"), problem("b/1", group="b")])
    folder = tmp_path / "problems"
    for one in pack.records:
        place = folder / one.problem.task_id.replace("/", "-")
        (place / "test").mkdir(parents=True)
        (place / "problem-spec.yaml").write_text(yaml.safe_dump(spec_of(one.problem.task_id, one.problem.group)))
        (place / "test" / "t.sh").write_text("sh solution.sh\n")
    (folder / "release.yaml").write_text("release: r\nprofile: podium/1\n")
    rows = graded(tmp_path / "one.jsonl", [row("a/1", "", passed=True)])
    ran = calibrate(rows, "--problems", folder)
    assert ran.exit_code == 1
    assert "no weight, for: b" in ran.stderr
    assert "refused: " in calibrate(rows).stderr, "without the pack the rows say no group"
    other = graded(tmp_path / "two.jsonl", [row("c/1", "c", passed=True)])
    assert "task_id `c/1` is not in the pack" in calibrate(other, "--problems", folder).stderr


def spec_of(task_id: str, group: str) -> dict[str, Any]:
    whole = problem(task_id, group=group)
    return {
        key: value for key, value in whole.items() if key not in ("context_files", "test_files", "baseline_solution")
    }


@pytest.mark.parametrize(
    ("rows", "more", "words"),
    [
        ([row("a/1", "a", passed=True), row("b/1", "b", passed=False)], ["--epsilon", "0"], "the weight of a is 0"),
        ([row("a/1", "a", passed=True)], ["--epsilon", "0"], "every weight is 0"),
        ([row("a/1", "a", passed=True, verdict="skipped")], [], "no coding problem has a result"),
        ([{"task_id": "a/1", "passed": True, "skipped": False, "solution": {}}], [], "names no group"),
    ],
)
def test_weights_that_mean_nothing_are_refused_in_words(
    rows: list[dict[str, Any]], more: list[str], words: str, tmp_path: Path
) -> None:
    ran = calibrate(graded(tmp_path / "one.jsonl", rows), *more)
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert words in ran.stderr


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("rates.csv", "group,rate\n", "its first line must be `group,problems,pass_rate`"),
        ("rates.csv", "group,problems,pass_rate\na,1,0.5\na,1,0.6\n", "group a stands there twice"),
        ("rates.csv", "group,problems,pass_rate\na,1,50\n", "less than or equal to 1"),
        ("rates.json", "{", "is no JSON"),
        ("rates.json", '{"a": {"problems": 0}}', "greater than or equal to 1"),
        ("rows.jsonl", "{}\n", "Line 1"),
    ],
)
def test_a_file_that_states_no_rates_is_refused_by_name(name: str, text: str, words: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    ran = calibrate(tmp_path / name)
    assert ran.exit_code == 2
    assert words in ran.stderr


def test_files_that_disagree_or_repeat_are_refused(tmp_path: Path) -> None:
    one = graded(tmp_path / "one.jsonl", [row("a/1", "a", passed=True)])
    two = graded(tmp_path / "two.jsonl", [row("a/1", "a", passed=True), row("a/2", "a", passed=True)])
    assert "group a has 1 problems in one file and 2 in two.jsonl" in calibrate(one, two).stderr
    again = graded(tmp_path / "again.jsonl", [row("a/1", "a", passed=True)])
    assert "the same content" in calibrate(one, again).stderr


def test_a_file_that_is_there_is_not_overwritten(tmp_path: Path) -> None:
    release = tmp_path / "release.yaml"
    release.write_text("release: r\n")
    ran = calibrate(graded(tmp_path / "one.jsonl", [row("a/1", "a", passed=True)]), "--out", release)
    assert ran.exit_code == 2
    assert release.read_text() == "release: r\n"
