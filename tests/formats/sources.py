"""Small packs and problems that the format tests start from."""

import gzip
import io
import json
import tarfile
from pathlib import Path
from typing import Any

from problems.spec.command.problem import CommandProblem, problem_from
from problems.spec.profile import Profile

DATA = Path(__file__).parent.parent / "data" / "compute-eval"
PROBLEMS = DATA / "internal-problems.tar.gz"
SOLUTIONS = DATA / "internal-modelx-solutions.tar.gz"
GRADED = DATA / "internal-modelx-graded-solutions.jsonl"


def cases(name: str) -> Any:
    """The rows of one table of conformance cases."""
    return json.loads((DATA / f"cases-{name}.json").read_text(encoding="utf-8"))


def members(path: Path) -> dict[str, bytes]:
    """The content of every member of a pack, read with nothing of ours."""
    with tarfile.open(path, "r:gz") as tar:
        return {member.name: tar.extractfile(member).read() for member in tar}  # type: ignore[union-attr]


def problem_fields(**changes: Any) -> dict[str, Any]:
    """The fields of a problem with a test, a context header and a reference; None is kept, `...` drops a field."""
    fields: dict[str, Any] = {
        "type": "cuda_cpp",
        "task_id": "T/0",
        "date": "2026-01-02",
        "prompt": "Add π.",
        "metadata": {"difficulty": "easy", "tags": ["sum"], "releases": ["internal"], "do_not_release": False},
        "group": "cccl",
        "context_files": [{"path": "include/add.h", "content": "int add(int, int);\n"}],
        "test_files": [{"path": "test/main.cu", "content": '#include "add.h"\n#include <cstdio>\nint main() {}\n'}],
        "build_command": "nvcc -I include -o test.out solution.cu test/*.cu",
        "test_command": "./test.out",
        "baseline_solution": {
            "type": "file",
            "task_id": "T/0",
            "files": [{"path": "solution.cu", "content": "int add(int a, int b) { return a + b; }\n"}],
        },
    }
    fields |= changes
    return {key: value for key, value in fields.items() if value is not ...}


def problem(profile: Profile = Profile.COMPUTE_EVAL, **changes: Any) -> CommandProblem:
    """A parsed problem with some fields changed."""
    return problem_from(problem_fields(**changes), profile)


def tar_gz(content: dict[str, bytes] | list[tuple[tarfile.TarInfo, bytes]]) -> io.BytesIO:
    """A gzipped tar of these members."""
    raw = io.BytesIO()
    infos = [(tarfile.TarInfo(n), c) for n, c in content.items()] if isinstance(content, dict) else content
    with tarfile.open(fileobj=raw, mode="w") as tar:
        for info, data in infos:
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return io.BytesIO(gzip.compress(raw.getvalue()))


def solution_pack(jsonl: bytes, **metadata: Any) -> io.BytesIO:
    """A solutions pack with these lines."""
    fields = {"release": "internal", "total_count": jsonl.count(b"\n"), **metadata}
    return tar_gz({"metadata.json": json.dumps(fields).encode(), "solutions.jsonl": jsonl})


def solution_line(task_id: str = "A/0", files: dict[str, str] | None = None, **extra: Any) -> bytes:
    """One line of a solutions pack."""
    listed = [{"path": p, "content": c} for p, c in (files or {"solution.sh": "exit 0"}).items()]
    return json.dumps({"type": "file", "task_id": task_id, "files": listed, **extra}).encode() + b"\n"
