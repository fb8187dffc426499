"""What a build includes foretells how long it takes; the standard library and a problem's own files do not matter."""

import time
from dataclasses import replace
from typing import Any

import pytest

from runners.agent.durations import Durations, Kinds
from runners.agent.headers import BASE_SECONDS, LOOKED_AT_BYTES, MOST, USUAL_SECONDS, heavy_headers, usual_seconds
from runners.agent.steps import KINDS_BY_INCLUDES, build_guess, build_kinds
from tests.agent.machine import shell_problem, task_of

COMMAND = "nvcc -O3 -o test.out solution.cu test/main.cu -lcudnn"


def heavy(text: str, path: str = "solution.cu") -> tuple[str, ...]:
    return heavy_headers({path: text.encode()})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("#include <cudnn_frontend.h>", ("cudnn_frontend.h",)),
        ("#include <thrust/sort.h>\n#include <cub/cub.cuh>\n#include <thrust/scan.h>\n", ("cub", "thrust")),
        ("int a;\r\n \t# \tinclude  \t<cutlass/gemm.h> // why\r\n", ("cutlass",)),
        ("#include <cuda/std/span>\n#include <made_up.hpp>", ("cuda", "made_up.hpp")),
        ("#include <vector>\n#include <stdio.h>\n#include <cuda_runtime.h>\n#include <cudnn.h>", ()),
        ("#include <nvtx3/nvToolsExt.h>\n#include <sys/random.h>\n#include <cooperative_groups/reduce.h>", ()),
        ('#include "thrust/sort.h"', ()),
        ("// #include <thrust/sort.h>\nint x; #include <cub/cub.cuh>", ()),
        ("#include <" + "x" * 65 + ">", ()),
        ("#include <a\nb>", ()),
    ],
)
def test_what_is_heavy(text: str, expected: tuple[str, ...]) -> None:
    assert heavy(text) == expected


def test_only_sources_count_and_all_of_them_do() -> None:
    found = {suffix: heavy("#include <cub/cub.cuh>", f"a/b.{suffix}") for suffix in ("cu", "cuh", "cpp", "h", "hpp")}
    assert set(found.values()) == {("cub",)}
    assert heavy("#include <cub/cub.cuh>", "notes.md") == heavy("#include <cub/cub.cuh>", "a.py") == ()
    files = {"a.cu": b"#include <cub/cub.cuh>", "test/main.cu": b"#include <thrust/sort.h>"}
    assert heavy_headers(files) == ("cub", "thrust")


def test_the_problems_own_files_are_no_libraries() -> None:
    text = b"#include <mine.h>\n#include <deep/er.h>\n#include <other.h>"
    assert heavy_headers({"a.cu": text, "include/mine.h": b"", "x/deep/er.h": b""}) == ("other.h",)


def test_the_work_and_the_result_are_bounded() -> None:
    assert heavy(" " * LOOKED_AT_BYTES + "\n#include <cub/cub.cuh>") == ()
    assert len(heavy("".join(f"#include <lib{n}/a.h>\n" for n in range(1000)))) == MOST
    began = time.process_time()
    for text in ("#" * (1 << 20), " " * (1 << 20), "#include <" * (1 << 17), "\n" * (1 << 20), " #\n" * (1 << 18)):
        heavy(text)
    assert time.process_time() - began < 5.0


def test_what_takes_long_is_guessed_by_what_is_included() -> None:
    texts = [
        "int x;",
        "#include <made_up.hpp>",
        "#include <thrust/sort.h>",
        "#include <cutlass/gemm.h>",
        "#include <cudnn_frontend.h>",
        "#include <cudnn_frontend.h>\n#include <cub/cub.cuh>",
    ]
    guessed = [usual_seconds(heavy(text)) for text in texts]
    assert guessed == sorted(set(guessed))
    assert guessed[0] == usual_seconds(heavy("#include <cooperative_groups/reduce.h>")) == BASE_SECONDS


@pytest.mark.parametrize("name", USUAL_SECONDS)
def test_everything_with_a_usual_time_is_found(name: str) -> None:
    assert heavy(f"#include <{name}>" if name.endswith(".h") else f"#include <{name}/any.h>") == (name,)


def kinds(solution: str = "", command: str = COMMAND, **changes: Any) -> Kinds:
    problem = shell_problem(build_command=command, **changes)
    return build_kinds(task_of(problem, {"solution.cu": solution}).subject)


def test_another_solution_to_a_problem_is_the_same_kind_and_files_names_are_none() -> None:
    subject = task_of(shell_problem(build_command="cc -o x a.c"), {"solution.sh": "x"}).subject
    other = task_of(shell_problem(build_command="cc -o x a.c"), {"solution.sh": "y"}).subject
    assert build_kinds(subject) == build_kinds(other) == build_kinds(replace(subject, trusted=True))
    own, alike, heavy_alike, problem, command, group = kinds()
    renamed = kinds(command="nvcc -O3 -o t.out solution.cu other/main.cu -lcudnn")
    assert renamed[0] != own
    assert renamed[3] != problem
    assert (renamed[1], renamed[2], *renamed[4:]) == (alike, heavy_alike, command, group)
    other_command = kinds(command="nvcc -O3 -o test.out solution.cu test/main.cu -lz")
    assert {alike, command}.isdisjoint(other_command)
    assert (other_command[2], other_command[5]) == (heavy_alike, group)
    assert {alike, command, group}.isdisjoint(kinds(group="other"))


def test_what_is_included_parts_solutions_to_one_problem_and_joins_those_to_others() -> None:
    plain, heavy_one = kinds("int x;"), kinds("#include <cudnn_frontend.h>")
    assert plain[3:] == heavy_one[3:]
    assert set(plain[:3]).isdisjoint(heavy_one[:3])
    elsewhere = kinds("#include <cudnn_frontend.h>", group="other", command="nvcc -o a.out solution.cu")
    assert set(heavy_one) & set(elsewhere) == {heavy_one[2]}


def test_builds_are_foretold_by_what_they_include_even_for_a_problem_that_is_known() -> None:
    known = Durations()
    light, heavy_one = kinds("int x;"), kinds("#include <cudnn_frontend.h>")
    known.add(light, 2.0)
    known.add(kinds("#include <cudnn_frontend.h>", group="other"), 60.0)
    assert known.expected(heavy_one, {}) == 60.0
    assert known.expected(light, {}) == 2.0
    assert known.expected(kinds("#include <thrust/sort.h>"), {}) == 2.0, "nothing but the problem is known of it"


def test_a_guess_by_includes_yields_to_builds_with_the_same_includes_alone() -> None:
    known, source = Durations(), "#include <cudnn_frontend.h>"
    subject = task_of(shell_problem(build_command=COMMAND), {"solution.cu": source}).subject
    guess = build_guess(subject)
    assert guess.seconds == usual_seconds(("cudnn_frontend.h",))
    known.add(kinds("int x;"), 2.0)
    assert known.expected(build_kinds(subject), {}, guess) == guess.seconds
    known.add(kinds(source, group="other"), 35.0)
    assert known.expected(build_kinds(subject), {}, guess) == 35.0


def test_so_many_kinds_depend_on_what_is_included() -> None:
    plain, heavy_one = kinds("int x;"), kinds("#include <cub/cub.cuh>")
    assert [one != other for one, other in zip(plain, heavy_one, strict=True)].count(True) == KINDS_BY_INCLUDES
    assert plain[KINDS_BY_INCLUDES:] == heavy_one[KINDS_BY_INCLUDES:]


def test_no_two_kinds_of_different_meaning_are_equal() -> None:
    found = kinds("#include <cub/cub.cuh>")
    assert len(set(found)) == len(found) == 6
