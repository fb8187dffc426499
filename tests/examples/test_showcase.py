"""The showcase release is whole: every problem says what it must, copies agree, entrants are complete, sources compile.

What the solutions do can be seen on a GPU alone; here the verdicts are checked that need none.
"""

import ast
import os
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from problems.formats.compute_eval.directory import read_problem_directory
from problems.formats.compute_eval.source_references import satisfied
from problems.spec.podium_metadata import KnownBad
from problems.spec.command.problem import CommandProblem
from problems.spec.solution import SourceFile
from problems.spec.command.timing_mode import RegionTimingMode
from problems.spec.command.workspace_rules import WorkspaceRules
from runners.wire.protocol import Verdict
from tests.examples.judge import files_in
from tests.requirements import requires

SHOWCASE = Path(__file__).parents[2] / "examples" / "showcase"
SLUGS = tuple(sorted(path.parent.name for path in SHOWCASE.glob("problems/*/problem-spec.yaml")))
ENTRANTS = ("demo-flawed", "demo-library", "demo-naive", "demo-tuned")
SAMPLES_PER_PROBLEM = 3
SHARED = {"cpp": "test/podium_bench.cuh", "python": "test/podium_split.py"}
COMPILED = ("async-pipeline", "matmul-fp32", "segmented-sum")
"""One baseline of each group that needs no library; PODIUM_COMPILE_ALL=1 compiles everything that needs none."""

compiles_everything = pytest.mark.skipif(
    os.environ.get("PODIUM_COMPILE_ALL") != "1",
    reason="compiling every source of the showcase takes a quarter of an hour: ask for it with PODIUM_COMPILE_ALL=1",
)


@cache
def problems() -> dict[str, CommandProblem]:
    return {record.problem.task_id: record.problem for record in read_problem_directory(SHOWCASE).records}


def problem(slug: str) -> CommandProblem:
    return problems()[slug]


@cache
def entrant_spec(entrant: str) -> dict[str, Any]:
    spec: dict[str, Any] = yaml.safe_load((SHOWCASE / "entrants" / entrant / "entrant.yaml").read_text("utf-8"))
    return spec


def sample(entrant: str, slug: str, index: int) -> list[SourceFile]:
    return files_in(SHOWCASE / "entrants" / entrant / slug / str(index))


def is_uncredited(entrant: str, slug: str, index: int) -> bool:
    return index in (entrant_spec(entrant).get("uncredited") or {}).get(slug, [])


def is_cpp(slug: str) -> bool:
    return problem(slug).language == "cpp"


def needs_no_library(slug: str) -> bool:
    return is_cpp(slug) and " -l" not in (problem(slug).build_command or "")


SAMPLES = [
    (entrant, slug, index, verdict)
    for entrant in ENTRANTS
    for slug, verdicts in sorted(entrant_spec(entrant)["expected"].items())
    for index, verdict in enumerate(verdicts)
]
KNOWN_BAD = [(slug, bad) for slug in SLUGS for bad in problem(slug).podium.known_bad]
CPP_SLUGS = [slug for slug in SLUGS if is_cpp(slug)]
WITHOUT_LIBRARIES = [slug for slug in SLUGS if needs_no_library(slug)]


def compile_only(folder: Path, of: CommandProblem, solution: Sequence[SourceFile]) -> bool:
    """The problem's own build, for the showcase's GPU, as far as object files; linking needs no GPU but time."""
    for file in [*of.context_files, *of.test_files, *solution]:
        path = folder / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(file.content, "utf-8")
    command = (of.build_command or "").replace("-o test.out", "-c -arch=sm_90")
    return subprocess.run(["bash", "-c", command], cwd=folder, capture_output=True, check=False).returncode == 0


def name_of(value: object) -> str | None:
    return value.name if isinstance(value, KnownBad) else None


def test_sixteen_problems_or_more_cover_the_groups() -> None:
    assert len(SLUGS) >= 16
    assert tuple(sorted(problems())) == SLUGS
    assert tuple(sorted(folder.name for folder in (SHOWCASE / "problems").iterdir())) == SLUGS
    groups = {problem(slug).group for slug in SLUGS}
    assert groups == {"cuda-kernels", "cuda-runtime", "cccl", "cublas", "mathlibs", "python"}


@pytest.mark.parametrize("slug", SLUGS)
def test_a_problem_says_all_that_its_page_and_its_judge_need(slug: str) -> None:
    of = problem(slug)
    assert of.baseline_solution is not None
    assert of.metadata.difficulty in ("easy", "medium", "hard")
    assert of.metadata.tags
    assert of.metadata.releases == ["showcase-cuda-1"]
    assert of.podium.title and of.podium.starter and of.podium.work_checked
    assert of.podium.flops or of.podium.bytes
    assert of.podium.working_set_bytes
    assert of.podium.harness == ("in_process" if is_cpp(slug) else "separate")
    assert of.podium.build_only is not None
    assert len(of.podium.known_bad) >= 2


@pytest.mark.parametrize("slug", SLUGS)
def test_a_problem_is_built_tested_and_timed_alike(slug: str) -> None:
    of = problem(slug)
    assert (of.min_cuda_toolkit, of.timeout_seconds) == ("12.0", 60.0)
    assert of.compute_capability in (None, "8.0")
    assert isinstance(of.timing_mode, RegionTimingMode)
    assert of.timing_mode.include == ["bench_region"]
    assert of.benchmark_command == f"{of.test_command} --perf"
    if is_cpp(slug):
        assert (of.build_command or "").startswith(
            "nvcc -O3 -std=c++17 -I include -o test.out solution.cu test/main.cu"
        )
        assert set(of.podium.build_only or []) == {file.path for file in of.test_files}
    else:
        assert of.test_command == "python -I -B test/test_main.py"


def test_both_kinds_of_region_time_are_shown() -> None:
    modes = {mode.time_type for slug in SLUGS if isinstance(mode := problem(slug).timing_mode, RegionTimingMode)}
    assert modes == {"kernel", "wall_clock"}


@pytest.mark.parametrize("slug", CPP_SLUGS)
def test_a_benchmark_goes_through_the_shared_loop_and_flushes_where_it_says_so(slug: str) -> None:
    (main,) = (file.content for file in problem(slug).test_files if file.path == "test/main.cu")
    assert "podium::benchmark(" in main
    assert ("CacheFlush" in main) == problem(slug).podium.l2_flushed


@pytest.mark.parametrize("slug", SLUGS)
def test_a_problem_takes_its_languages_shared_harness(slug: str) -> None:
    spec = yaml.safe_load((SHOWCASE / "problems" / slug / "problem-spec.yaml").read_text("utf-8"))
    assert spec["common"] == [SHARED[problem(slug).language]]


@pytest.mark.parametrize("slug", [slug for slug in SLUGS if not is_cpp(slug)])
def test_a_python_harness_leaves_the_solution_to_a_process_of_its_own(slug: str) -> None:
    (main,) = (file.content for file in problem(slug).test_files if file.path == "test/test_main.py")
    imported = {name.name for node in ast.walk(ast.parse(main)) if isinstance(node, ast.Import) for name in node.names}
    imported |= {str(node.module) for node in ast.walk(ast.parse(main)) if isinstance(node, ast.ImportFrom)}
    assert "podium_split" in imported
    assert "solution" not in imported


@pytest.mark.parametrize("entrant", ENTRANTS)
def test_an_entrant_has_three_samples_and_their_verdicts_for_every_problem(entrant: str) -> None:
    expected = entrant_spec(entrant)["expected"]
    assert tuple(expected) == SLUGS
    for slug, verdicts in expected.items():
        assert len(verdicts) == entrant_spec(entrant)["samples_per_problem"] == SAMPLES_PER_PROBLEM
        assert all(verdict in set(Verdict) for verdict in verdicts)
        folders = sorted(path.name for path in (SHOWCASE / "entrants" / entrant / slug).iterdir())
        assert folders == ["0", "1", "2"]


def test_times_are_refused_to_samples_that_pass_and_to_flawed_ones_alone() -> None:
    assert sorted(path.name for path in (SHOWCASE / "entrants").iterdir()) == list(ENTRANTS)
    uncredited = [row for row in SAMPLES if is_uncredited(*row[:3])]
    assert {(entrant, verdict) for entrant, _, _, verdict in uncredited} == {("demo-flawed", Verdict.PASSED)}
    assert len(uncredited) == sum(map(len, entrant_spec("demo-flawed")["uncredited"].values()))


def test_the_entrants_differ_visibly() -> None:
    credited = dict.fromkeys(ENTRANTS, 0)
    for entrant, slug, index, verdict in SAMPLES:
        credited[entrant] += verdict == Verdict.PASSED and not is_uncredited(entrant, slug, index)
    assert credited["demo-tuned"] == SAMPLES_PER_PROBLEM * len(SLUGS)
    assert credited["demo-tuned"] > credited["demo-library"] > credited["demo-naive"] > 2 * credited["demo-flawed"] > 0


def test_no_two_samples_are_alike() -> None:
    contents = [sample(entrant, slug, index)[0].content for entrant, slug, index, _ in SAMPLES]
    assert len(set(contents)) == len(contents)


@pytest.mark.parametrize("slug", SLUGS)
def test_no_file_is_refused_and_references_are_missing_where_they_should_be(slug: str) -> None:
    of = problem(slug)
    solutions = [(sample(entrant, s, index), verdict) for entrant, s, index, verdict in SAMPLES if s == slug]
    solutions += [(bad.files, Verdict(bad.expect)) for bad in of.podium.known_bad]
    solutions += [(files_in(SHOWCASE / "problems" / slug / "solution"), Verdict.PASSED)]
    for files, verdict in solutions:
        assert WorkspaceRules.of(of).why_bad(files) == ""
        assert satisfied(of.source_references, files) == (verdict != Verdict.SOURCE_REFERENCE_MISSING)


def test_what_is_always_compiled_stands_for_every_group_that_needs_no_library() -> None:
    groups = [problem(slug).group for slug in COMPILED]
    assert sorted(groups, key=str) == sorted({problem(slug).group for slug in WITHOUT_LIBRARIES}, key=str)


@requires("nvcc")
@pytest.mark.parametrize("slug", COMPILED)
def test_a_baseline_and_its_harness_compile(slug: str, tmp_path: Path) -> None:
    assert compile_only(tmp_path, problem(slug), files_in(SHOWCASE / "problems" / slug / "solution"))


@requires("nvcc")
@compiles_everything
@pytest.mark.parametrize("slug", [slug for slug in WITHOUT_LIBRARIES if slug not in COMPILED])
def test_every_further_baseline_and_its_harness_compile(slug: str, tmp_path: Path) -> None:
    assert compile_only(tmp_path, problem(slug), files_in(SHOWCASE / "problems" / slug / "solution"))


def compiles_alone(folder: Path, slug: str, solution: Sequence[SourceFile]) -> bool:
    """The solution without the harness, which is the same for all of them."""
    of = problem(slug)
    command = (of.build_command or "").replace(" test/main.cu", "")
    return compile_only(folder, of.model_copy(update={"build_command": command, "test_files": []}), solution)


@requires("nvcc")
@compiles_everything
@pytest.mark.parametrize(("entrant", "slug", "index", "expected"), [row for row in SAMPLES if needs_no_library(row[1])])
def test_a_sample_compiles_unless_its_build_must_fail(
    entrant: str, slug: str, index: int, expected: str, tmp_path: Path
) -> None:
    compiled = compiles_alone(tmp_path, slug, sample(entrant, slug, index))
    assert compiled or expected in (Verdict.BUILD_FAILED, Verdict.SOURCE_REFERENCE_MISSING)


@requires("nvcc")
@compiles_everything
@pytest.mark.parametrize(("slug", "bad"), [row for row in KNOWN_BAD if needs_no_library(row[0])], ids=name_of)
def test_a_known_bad_solution_compiles_unless_its_build_must_fail(slug: str, bad: KnownBad, tmp_path: Path) -> None:
    compiled = compiles_alone(tmp_path, slug, bad.files)
    assert compiled or bad.expect in (Verdict.BUILD_FAILED, Verdict.SOURCE_REFERENCE_MISSING)
