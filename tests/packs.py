"""Small problem packs and solutions made in the test, all shell commands so that they run anywhere in milliseconds."""

import io
import json
from collections.abc import Mapping, Sequence
from typing import Any

from problems.formats.compute_eval.packs import ProblemPack, problem_pack_from
from problems.spec.digests import record_md5

SOLUTION_PATH = "solution.sh"


def problem(task_id: str, **changes: Any) -> dict[str, Any]:
    """A problem that runs solution.sh, and times it with the same command where asked to."""
    podium = changes.pop("podium", {"build_only": []})
    fields: dict[str, Any] = {
        "type": "cpp",
        "schema_version": 2,
        "task_id": task_id,
        "date": "2026-01-01",
        "prompt": f"Write `solution.sh` so that it exits with 0. ({task_id})",
        "metadata": {
            "difficulty": "easy",
            "tags": ["shell"],
            "releases": ["test-1"],
            "do_not_release": False,
            "podium": podium,
        },
        "group": "shell",
        "context_files": [],
        "test_files": [{"path": "test/t.sh", "content": "sh solution.sh\n"}],
        "source_references": None,
        "build_command": "true",
        "test_command": "sh test/t.sh",
        "benchmark_command": None,
        "timing_mode": {"type": "process"},
        "min_cuda_toolkit": None,
        "compute_capability": None,
        "requires_datacenter_gpu": False,
        "timeout_seconds": 5.0,
        "baseline_solution": solution(task_id, "exit 0"),
    }
    return fields | changes


def solution(task_id: str, script: str, path: str = SOLUTION_PATH) -> dict[str, Any]:
    return {"schema_version": 1, "type": "file", "task_id": task_id, "files": [{"path": path, "content": script}]}


def line(record: Mapping[str, Any]) -> bytes:
    return (json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n").encode()


def problem_pack(problems: Sequence[Mapping[str, Any]], release: str = "test-1", **metadata: Any) -> ProblemPack:
    """A podium/1 pack of these problems, read back through the reader that production uses."""
    lines = [line(one) for one in problems]
    fields = {
        "release": release,
        "total_count": len(lines),
        "created_at": "2026-01-01T00:00:00",
        "description": "A release for tests.",
        "task_id_hashes": {one["task_id"]: record_md5(text) for one, text in zip(problems, lines, strict=True)},
        "profile": "podium/1",
        **metadata,
    }
    return problem_pack_from(json.dumps(fields, indent=2).encode(), b"".join(lines))


def solution_pack(solutions: Sequence[Mapping[str, Any]], release: str = "test-1", **more: Any) -> io.BytesIO:
    """A solutions datapack as a file; `more` is added to its metadata."""
    import tarfile

    metadata = {"release": release, "total_count": len(solutions), "created_at": "2026-01-01T00:00:00", "groups": None}
    members = {
        "metadata.json": json.dumps(metadata | more, indent=2).encode(),
        "solutions.jsonl": b"".join(map(line, solutions)),
    }
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz") as archive:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    file.seek(0)
    return file
