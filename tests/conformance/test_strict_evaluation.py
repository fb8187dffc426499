"""`--strict` refuses packs as ComputeEval does, yet one bad record or unknown task never takes the others along."""

import io
import json
import tarfile
from pathlib import Path
from typing import Any

from tests.evaluate.packs_on_disk import Ran, evaluate, rows_of, write_problems
from tests.packs import problem, solution

GOOD = solution("a/1", "exit 0")


def strict(folder: Path, records: list[dict[str, Any]], *more: str, groups: list[str] | None = None) -> Ran:
    problems = write_problems(folder, [problem("a/1"), problem("a/2", group="other")])
    pack = folder / "test-1-one-solutions.tar.gz"
    _pack(pack, records, groups)
    return evaluate(folder, problems, "--solutions", pack, "--out", folder / "g.jsonl", *more)


def _pack(path: Path, records: list[dict[str, Any]], groups: list[str] | None) -> None:
    """JSON with escapes, the only way in which a lone surrogate can be written."""
    metadata = {"release": "test-1", "total_count": len(records), "groups": groups}
    members = {
        "metadata.json": json.dumps(metadata),
        "solutions.jsonl": "".join(json.dumps(one) + "\n" for one in records),
    }
    with tarfile.open(path, mode="w:gz") as tar:
        for name, text in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(text.encode())
            tar.addfile(info, io.BytesIO(text.encode()))


def verdicts(folder: Path) -> list[tuple[str, str]]:
    return sorted((row["task_id"], row["podium"]["verdict"]) for row in rows_of(folder / "g.jsonl"))


def test_a_lone_surrogate_makes_its_sample_invalid_under_strict_too(folder: Path) -> None:
    records = [GOOD, solution("a/1", "\ud800"), solution("a/1", "exit 0", "\udfff"), solution("a/2", "exit 0")]
    ran = strict(folder, records, "--strict")
    assert ran.status == 0, ran.stderr
    assert verdicts(folder) == [("a/1", "invalid"), ("a/1", "invalid"), ("a/1", "passed"), ("a/2", "passed")]


def test_an_unknown_task_is_told_and_the_rest_is_graded_under_strict_too(folder: Path) -> None:
    ran = strict(folder, [GOOD, solution("z/9", "exit 0"), solution("a/2", "exit 0")], "--strict")
    assert ran.status == 0, ran.stderr
    assert verdicts(folder) == [("a/1", "passed"), ("a/2", "passed")]
    assert "line 2: task_id `z/9`" in ran.stderr


def test_a_task_outside_of_the_packs_groups_is_told_and_the_rest_is_graded(folder: Path) -> None:
    ran = strict(folder, [GOOD, solution("a/2", "exit 0")], "--strict", groups=["shell"])
    assert ran.status == 0, ran.stderr
    assert verdicts(folder) == [("a/1", "passed")]
    assert "line 2: task_id `a/2` is not among the problems of the pack's groups" in ran.stderr


def test_a_pack_without_a_single_sample_to_grade_is_bad_input(folder: Path) -> None:
    ran = strict(folder, [solution("z/9", "exit 0")])
    assert (ran.status, ran.stdout) == (2, "")
    assert "z/9" in ran.stderr
    assert not (folder / "g.jsonl").exists()
