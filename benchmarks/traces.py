"""Counts the first-party files and functions that one sample of `podium evaluate` goes through, on a CPU in bubblewrap.

A function counts once, however often it is called. Bodies of modules and classes, comprehensions and lambdas do not
count, nor does code in sandboxes. The depth of `judge()` is the largest number of frames from it on, in its own thread,
the standard library's included.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from benchmarks.figures import BenchFigure, show
from benchmarks.function_judge import problem as empty_function
from problems.formats.compute_eval.packs import problem_metadata_for, write_problem_pack, write_solution_pack
from problems.spec.command.problem import problem_from
from problems.spec.pack import parse_problem_metadata, parse_solution_metadata
from problems.spec.profile import Profile
from problems.spec.record import ProblemRecord
from problems.spec.solution import FileSolution, SourceFile

ROOT = Path(__file__).parents[1]
OWN = tuple(f"{ROOT}/{package}/" for package in ("podium", "problems", "runners", "scoring"))
IS_FUNCTION = 0x01
"""Flag `CO_OPTIMIZED`, which the code of modules and classes lacks."""
HEAD = {"release": "trace", "total_count": 1, "created_at": "2026-01-01T00:00:00"}
FILES, FUNCTIONS, JUDGE_FILES, DEPTH = "files", "functions", "files in judge()", "depth of judge()"
LIMITS = {"command": {FILES: 70, FUNCTIONS: 350, JUDGE_FILES: 22, DEPTH: 12}}
SOURCES = {
    "command": {"solution.cpp": "int answer() { return 42; }\n"},
    "function": {"solution.cpp": '#include <cstdint>\nextern "C" void solution(const int32_t*, int32_t*) {}\n'},
}


@dataclass
class Trace:
    """The first-party functions that ran, and those below a judge's `judge()`."""

    seen: set[CodeType] = field(default_factory=set)
    in_judge: dict[CodeType, int] = field(default_factory=dict)
    """With their depth."""

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and _is_own(frame.f_code):
            self.seen.add(frame.f_code)
            if depth := _depth(frame):
                self.in_judge[frame.f_code] = max(depth, self.in_judge.get(frame.f_code, 0))

    def counts(self) -> dict[str, int]:
        return {
            FILES: len(_files(self.seen)),
            FUNCTIONS: len(self.seen),
            JUDGE_FILES: len(_files(self.in_judge)),
            DEPTH: max(self.in_judge.values(), default=0),
        }

    def lines(self) -> list[str]:
        """The files, with the number of their functions; `*` marks those in `judge()`."""
        inside = _files(self.in_judge)
        names = sorted(_files(self.seen))
        return [
            f"{'*' if name in inside else ' '} {name} {sum(one.co_filename == name for one in self.seen)}"
            for name in names
        ]


def _is_own(code: CodeType) -> bool:
    return code.co_filename.startswith(OWN) and bool(code.co_flags & IS_FUNCTION) and not code.co_name.startswith("<")


def _depth(frame: FrameType) -> int:
    """Frames from a judge's `judge()` to this one; 0 outside of it."""
    depth = 0
    at: FrameType | None = frame
    while at is not None:
        code = at.f_code
        depth += 1
        if code.co_name == "judge" and code.co_filename.endswith(("command/judge.py", "function/judge.py")):
            return depth
        at = at.f_back
    return 0


def _files(codes: Collection[CodeType]) -> set[str]:
    return {one.co_filename for one in codes}


def command_problem() -> ProblemRecord:
    """Built by g++, tested, and timed beside a reference by the wall clock of its processes."""
    record = {
        "type": "cpp", "task_id": "trace/command", "date": "2026-01-01", "prompt": "Answer.", "metadata": {},
        "group": "trace", "compute_capability": None, "timeout_seconds": 60.0,
        "build_command": "g++ -o test.out solution.cpp test/main.cpp",
        "test_command": "./test.out", "benchmark_command": "./test.out", "timing_mode": {"type": "process"},
        "test_files": [{"path": "test/main.cpp", "content": "int answer();\nint main() { return answer() - 42; }\n"}],
        "baseline_solution": {
            "type": "file", "task_id": "trace/command",
            "files": [{"path": "solution.cpp", "content": "int answer() { return 6 * 7; }\n"}],
        },
    }  # fmt: skip
    return problem_from(record, Profile.PODIUM)


def write_packs(kind: str, folder: Path) -> None:
    problem = command_problem() if kind == "command" else empty_function()
    files = [SourceFile(path=path, content=content) for path, content in SOURCES[kind].items()]
    lines = [(problem.task_id, problem.to_line())]
    metadata = problem_metadata_for(parse_problem_metadata(json.dumps(HEAD | {"profile": "podium/1"}).encode()), lines)
    with (folder / "trace-problems.tar.gz").open("wb") as file:
        write_problem_pack(file, metadata, [lines[0][1]])
    with (folder / "trace-solutions.tar.gz").open("wb") as file:
        solution = FileSolution(task_id=problem.task_id, files=files).to_line()
        write_solution_pack(file, parse_solution_metadata(json.dumps(HEAD).encode(), Profile.PODIUM), [solution])


def traced(folder: Path) -> Trace:
    """Grade the packs in `folder` as the program does."""
    from podium.cli import make_app

    app, trace = make_app("evaluate"), Trace()
    arguments = ["evaluate", "--problems", str(folder / "trace-problems.tar.gz"), "--out", str(folder / "graded.jsonl")]
    arguments += ["--solutions", str(folder / "trace-solutions.tar.gz"), "--sandbox", "bubblewrap", "--benchmark"]
    threading.setprofile(trace)
    sys.setprofile(trace)
    app(arguments, standalone_mode=False)
    sys.setprofile(None)
    threading.setprofile(None)
    return trace


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kind", choices=SOURCES, help="trace one sample in this process")
    parser.add_argument("--list", action="store_true", help="name the files of that sample")
    chosen = parser.parse_args()
    if not chosen.kind:
        command = [sys.executable, "-m", "benchmarks.traces", "--kind"]
        return max(subprocess.run([*command, one], check=False).returncode for one in SOURCES)
    with tempfile.TemporaryDirectory(prefix="podium-trace-") as folder:
        Path(folder).chmod(0o755)
        os.environ["PODIUM_VAR_DIR"] = folder  # so that nothing is built already
        write_packs(chosen.kind, Path(folder))
        trace = traced(Path(folder))
    if chosen.list:
        print("\n".join(trace.lines()).replace(f"{ROOT}/", ""))
    limits = LIMITS.get(chosen.kind, {})
    figures = [
        BenchFigure(f"{chosen.kind} sample: {name}", count, "", limits.get(name), "max")
        for name, count in trace.counts().items()
    ]
    return 0 if show(figures) else 1


if __name__ == "__main__":
    sys.exit(main())
