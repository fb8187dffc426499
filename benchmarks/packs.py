"""Makes the synthetic packs that the benchmarks measure with; nothing in them comes from anybody's data set."""

import io
import random
from collections.abc import Iterator
from typing import Any

from problems.formats.compute_eval.packs import problem_metadata_for, write_problem_pack, write_solution_pack
from problems.spec.command.problem import problem_from
from problems.spec.pack import (
    ProblemPackMetadata,
    SolutionPackMetadata,
    parse_problem_metadata,
    parse_solution_metadata,
)
from problems.spec.profile import Profile
from problems.spec.solution import FileSolution, SourceFile

RELEASE = "internal"
GROUP = "cuda-kernels"
GROUPS = (GROUP, "cuda-runtime", "cccl", "cublas", "mathlibs")
DIFFICULTIES = ("easy", "medium", "hard")
CREATED_AT = "2026-01-01T00:00:00"
WORDS = ("tile", "block", "warp", "index", "stride", "offset", "shared", "global", "sync", "reduce", "scan", "guard")


def large_problem_pack(n_problems: int) -> bytes:
    """A strict pack with records of some 12 kB, as many as asked for."""
    return _problem_pack([_large_problem(n) for n in range(n_problems)])


def large_solution_pack(n_problems: int, n_samples: int) -> bytes:
    """`n_samples` solutions of some 3 kB to each problem of `large_problem_pack`, no two alike."""
    lines = (
        _solution(f"BENCH/{n}", "solution.cu", _filler(32, n * n_samples + sample))
        for n in range(n_problems)
        for sample in range(n_samples)
    )
    return _solution_pack(lines, n_problems * n_samples)


def trivial_problem_pack(n_problems: int) -> bytes:
    """Problems without a build whose test passes at once: what they cost is what the platform costs.

    They are of five groups and three difficulties.
    """
    return _problem_pack([_trivial_problem(n) for n in range(n_problems)])


def _trivial_problem(n: int) -> dict[str, Any]:
    facts = {"difficulty": DIFFICULTIES[n % len(DIFFICULTIES)], "tags": [WORDS[n % len(WORDS)]]}
    group = GROUPS[n % len(GROUPS)]
    return _problem(f"TRIVIAL/{n}", build_command=None, test_command="true", group=group, metadata=facts)


def trivial_solution_pack(n_problems: int, n_samples: int, salt: str) -> bytes:
    """`salt` makes the pack a new submission."""
    lines = (
        _solution(f"TRIVIAL/{n}", "solution.cu", f"// {salt} {sample}\n")
        for n in range(n_problems)
        for sample in range(n_samples)
    )
    return _solution_pack(lines, n_problems * n_samples)


def python_problem_pack(n_problems: int) -> bytes:
    """Strict problems whose build only prints a text and whose test is a Python script, as in group cutile."""
    return _problem_pack([_python_problem(n) for n in range(n_problems)])


def python_solution_pack(n_problems: int, n_samples: int) -> bytes:
    """Each problem's samples differ; every fourth is wrong."""
    lines = (
        _solution(f"PYTHON/{n}", "solution.py", _python_solution(n, sample))
        for n in range(n_problems)
        for sample in range(n_samples)
    )
    return _solution_pack(lines, n_problems * n_samples)


def compiled_problem_pack(n_problems: int) -> bytes:
    """Strict problems for a CPU, each built by g++ in over half a second and tested by a harness of its own."""
    return _problem_pack([_compiled_problem(n) for n in range(n_problems)])


def compiled_solution_pack(n_problems: int, n_samples: int) -> bytes:
    """Each problem's samples differ; every fourth is wrong and one problem's last does not compile."""
    lines = (
        _solution(f"COMPILED/{n}", "solution.cpp", _compiled_solution(n, sample))
        for n in range(n_problems)
        for sample in range(n_samples)
    )
    return _solution_pack(lines, n_problems * n_samples)


def timed_problem_pack(n_problems: int) -> bytes:
    """The compiled problems with a reference that is built and timed beside each solution."""
    return _problem_pack([_timed_problem(number) for number in range(n_problems)])


def timed_solution_pack(n_problems: int, n_samples: int) -> bytes:
    """Right solutions, each a build of its own."""
    lines = (
        _solution(f"COMPILED/{number}", "solution.cpp", f"// sample {sample}\n{_RIGHT}")
        for number in range(n_problems)
        for sample in range(n_samples)
    )
    return _solution_pack(lines, n_problems * n_samples)


def _filler(n_lines: int, seed: int) -> str:
    """Comment lines that compress about as sources do."""
    draw = random.Random(seed)
    return "".join(f"// {draw.getrandbits(64):x} {' '.join(draw.choices(WORDS, k=10))}\n" for _ in range(n_lines))


def _large_problem(number: int) -> dict[str, Any]:
    return _problem(
        f"BENCH/{number}",
        prompt=f"Problem {number}.\n" + _filler(20, number),
        build_command="nvcc -I include -o test.out solution.cu test/*.cu",
        test_command="./test.out",
        benchmark_command="./test.out --perf",
        context_files=[{"path": "include/problem.h", "content": _filler(20, number + 10_000)}],
        test_files=[{"path": "test/test_main.cu", "content": '#include "problem.h"\n' + _filler(70, number + 20_000)}],
        baseline_solution={
            "type": "file",
            "task_id": f"BENCH/{number}",
            "files": [{"path": "solution.cu", "content": _filler(30, number + 30_000)}],
        },
    )


_HARNESS = """#include "problem.h"
#include <algorithm>
#include <functional>
#include <iostream>
#include <map>
#include <random>
#include <regex>
#include <sstream>
#include <string>
#include <unordered_map>

int main() {
    std::mt19937 random(7);
    std::map<std::string, int> seen;
    for (int i = 0; i < 200; ++i) {
        const int a = static_cast<int>(random() % 1000), b = static_cast<int>(random() % 1000);
        std::ostringstream text;
        text << solve(a, b);
        if (text.str().empty() || solve(a, b) != a + b + OFFSET) return 1;
        ++seen[text.str()];
    }
    std::cout << seen.size() << " sums agree\\n";
    return 0;
}
"""


def _compiled_problem(number: int) -> dict[str, Any]:
    return _problem(
        f"COMPILED/{number}",
        build_command="g++ -std=c++17 -O1 -I include -o test.out solution.cpp test/test_main.cpp",
        test_command="./test.out",
        context_files=[
            {
                "path": "include/problem.h",
                "content": f"#pragma once\n#define OFFSET {number}\nint solve(int a, int b);\n",
            }
        ],
        test_files=[{"path": "test/test_main.cpp", "content": _HARNESS}],
    )


_RIGHT = '#include "problem.h"\nint solve(int a, int b) { return a + b + OFFSET; }\n'


def _timed_problem(number: int) -> dict[str, Any]:
    task_id = f"COMPILED/{number}"
    files = [{"path": "solution.cpp", "content": _RIGHT}]
    return _compiled_problem(number) | {
        "baseline_solution": {"schema_version": 1, "type": "file", "task_id": task_id, "files": files},
        "benchmark_command": "./test.out",
        "timing_mode": {"type": "process"},
    }


def _python_problem(number: int) -> dict[str, Any]:
    return _problem(
        f"PYTHON/{number}",
        type="cuda_python",
        group="cutile",
        build_command='echo "There is nothing to build."',
        test_command="PYTHONPATH=. python test/test_solution.py",
        test_files=[
            {
                "path": "test/test_solution.py",
                "content": f"from solution import solve\n\nassert solve(1, 2) == {number + 3}\nprint('it agrees')\n",
            }
        ],
    )


def _python_solution(number: int, sample: int) -> str:
    wrong = " + 1" if sample % 4 == 3 else ""
    return f"# sample {sample}\n\n\ndef solve(a, b):\n    return a + b + {number}{wrong}\n"


def _compiled_solution(number: int, sample: int) -> str:
    if (number, sample) == (0, 3):
        return '#include "problem.h"\nint solve(int a, int b) { return a + ; }\n'
    wrong = " + 1" if sample % 4 == 3 else ""
    return f'#include "problem.h"\n// sample {sample}\nint solve(int a, int b) {{ return a + b + OFFSET{wrong}; }}\n'


def _problem(task_id: str, **fields: Any) -> dict[str, Any]:
    return {
        "type": "cuda_cpp",
        "task_id": task_id,
        "date": "2026-01-01",
        "prompt": "A problem for measuring.",
        "metadata": {},
        "group": GROUP,
        "compute_capability": None,
        "timeout_seconds": 60.0,
    } | fields


def _problem_pack(records: list[dict[str, Any]]) -> bytes:
    problems = [problem_from(record, Profile.COMPUTE_EVAL) for record in records]
    lines = [(problem.task_id, problem.to_line()) for problem in problems]
    head = {"release": RELEASE, "total_count": len(lines), "created_at": CREATED_AT}
    metadata: ProblemPackMetadata = problem_metadata_for(parse_problem_metadata(head), lines)
    target = io.BytesIO()
    write_problem_pack(target, metadata, (line for _, line in lines))
    return target.getvalue()


def _solution(task_id: str, path: str, content: str) -> bytes:
    return FileSolution(task_id=task_id, files=[SourceFile(path=path, content=content)]).to_line()


def _solution_pack(lines: Iterator[bytes], total: int) -> bytes:
    head = f'{{"release":"{RELEASE}","total_count":{total},"created_at":"{CREATED_AT}"}}'.encode()
    metadata: SolutionPackMetadata = parse_solution_metadata(head)
    target = io.BytesIO()
    write_solution_pack(target, metadata, lines)
    return target.getvalue()
