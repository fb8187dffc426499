"""The textbook releases hold what they promise: references pass, skeletons, known-bad solutions and samples do as said.

What CUDA solutions do can be seen on a GPU alone; here their sources are read and some are compiled.
"""

import os
import subprocess
from collections import Counter
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from problems.formats.compute_eval.directory import read_problem_directory
from problems.formats.compute_eval.source_references import satisfied
from problems.spec.command.problem import CommandProblem
from problems.spec.command.workspace_rules import WorkspaceRules
from problems.spec.podium_metadata import KnownBad
from problems.spec.solution import FileSolution, SourceFile
from runners.wire.protocol import Verdict
from tests.examples.judge import end_session, files_in
from tests.requirements import requires

pytestmark = pytest.mark.rest

GPU, CPU = (Path(__file__).parents[2] / "examples" / name for name in ("textbook-gpu", "textbook-cpu"))
ENTRANTS = ("demo-careful", "demo-hasty")
COMPILED = ("grid-stride-clamp", "work-in-stream")
"""CUDA tasks whose reference is linked here: one whose kernel the harness launches, and one with streams."""
TIMED_OUT_AFTER_SECONDS = 3.0
"""Enough to tell a solution that never ends: those that pass need well under one."""

compiles_everything = pytest.mark.skipif(
    os.environ.get("PODIUM_COMPILE_ALL") != "1",
    reason="compiling every solution takes minutes: ask for it with PODIUM_COMPILE_ALL=1",
)


@cache
def problems(root: Path) -> dict[str, CommandProblem]:
    """Problems by slug, which is the task_id with a hyphen for the slash."""
    found = [record.problem for record in read_problem_directory(root).records]
    return {of.task_id.replace("/", "-"): of for of in found if isinstance(of, CommandProblem)}


def reference(of: CommandProblem) -> list[SourceFile]:
    assert isinstance(of.baseline_solution, FileSolution)
    return list(of.baseline_solution.files)


@cache
def expected_verdicts(root: Path, entrant: str) -> dict[str, list[str]]:
    spec: dict[str, Any] = yaml.safe_load((root / "entrants" / entrant / "entrant.yaml").read_text("utf-8"))
    expected: dict[str, list[str]] = spec["expected"]
    return expected


def sample(root: Path, entrant: str, slug: str, index: int) -> list[SourceFile]:
    return files_in(root / "entrants" / entrant / slug / str(index))


ALL = [(root, slug) for root in (GPU, CPU) for slug in problems(root)]
CPU_SLUGS = tuple(problems(CPU))
JUDGED = CPU_SLUGS[:: 1 if os.environ.get("PODIUM_COMPILE_ALL") == "1" else 6]
"""The tasks whose solutions are built and run: every sixth, or all with PODIUM_COMPILE_ALL=1."""
KNOWN_BAD = [(slug, bad) for slug in JUDGED for bad in problems(CPU)[slug].podium.known_bad]


def samples(root: Path) -> list[tuple[str, str, int, str]]:
    return [
        (entrant, slug, index, verdict)
        for entrant in ENTRANTS
        for slug in problems(root)
        for index, verdict in enumerate(expected_verdicts(root, entrant)[slug])
    ]


def name_of(value: object) -> str | None:
    return value.name if isinstance(value, KnownBad | Path) else None


def build_steps(of: CommandProblem) -> tuple[str, str]:
    """The commands for the contestant's program and for the harness."""
    contestant, harness = (of.build_command or "").split(" && ")
    return contestant, harness


def lay_out(folder: Path, files: Sequence[SourceFile]) -> None:
    for file in files:
        path = folder / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(file.content, "utf-8")


def run(command: str, folder: Path, limit_seconds: float | None = None) -> int:
    """The exit code; raises TimeoutExpired. Everything the command started is ended."""
    with subprocess.Popen(
        ["bash", "-c", command], cwd=folder, stderr=subprocess.DEVNULL, start_new_session=True
    ) as child:
        try:
            return child.wait(limit_seconds)
        finally:
            end_session(child.pid)


@pytest.fixture(scope="module")
def harnesses() -> dict[str, bytes]:
    """The harnesses built so far, by slug: no solution is part of one."""
    return {}


class Judge:
    """Builds and tests solutions of the CPU release as a node would, with each harness built once."""

    def __init__(self, harnesses: dict[str, bytes], folder: Path) -> None:
        self._harnesses = harnesses
        self._folder = folder

    def verdict(self, slug: str, solution: Sequence[SourceFile], limit_seconds: float = TIMED_OUT_AFTER_SECONDS) -> str:
        of = problems(CPU)[slug]
        lay_out(self._folder, [*of.context_files, *of.test_files, *solution])
        self._lay_out_harness(slug)
        if run(build_steps(of)[0], self._folder) != 0:
            return Verdict.BUILD_FAILED
        try:
            code = run(of.test_command, self._folder, limit_seconds)
        except subprocess.TimeoutExpired:
            return Verdict.TIMED_OUT
        return Verdict.TEST_FAILED if code else Verdict.PASSED

    def _lay_out_harness(self, slug: str) -> None:
        path = self._folder / "harness"
        if slug not in self._harnesses:
            assert run(build_steps(problems(CPU)[slug])[1], self._folder) == 0
            self._harnesses[slug] = path.read_bytes()
        path.write_bytes(self._harnesses[slug])
        path.chmod(0o700)


@pytest.fixture
def judge(harnesses: dict[str, bytes], tmp_path: Path) -> Judge:
    return Judge(harnesses, tmp_path)


def test_every_chapter_has_cuda_tasks_and_most_have_one_for_cpus() -> None:
    groups = Counter(str(of.group) for of in problems(GPU).values())
    assert sorted(group[:2] for group in groups) == [f"{number:02}" for number in range(1, 18)]
    assert min(groups.values()) >= 2
    assert len(problems(GPU)) >= 24
    assert len(problems(CPU)) >= 8
    assert {of.group for of in problems(CPU).values()} <= set(groups)


@pytest.mark.parametrize(("root", "slug"), ALL, ids=name_of)
def test_a_task_says_all_that_its_page_and_its_judge_need(root: Path, slug: str) -> None:
    of = problems(root)[slug]
    assert of.metadata.difficulty in ("easy", "medium", "hard")
    assert of.metadata.tags
    assert of.metadata.releases == [f"{root.name}-1"]
    assert of.podium.title and of.podium.starter
    assert of.podium.harness == "separate"
    assert of.podium.counts == "passed {passed} / {total}"
    assert set(of.podium.build_only or []) == {file.path for file in of.test_files}
    assert of.podium.known_bad[0].files == of.podium.starter
    assert len({bad.name for bad in of.podium.known_bad}) == len(of.podium.known_bad) >= 3
    assert (root / "problems" / slug).is_dir()


@pytest.mark.parametrize(("root", "slug"), ALL, ids=name_of)
def test_the_harness_is_built_from_nothing_that_a_solution_brings(root: Path, slug: str) -> None:
    contestant, harness = build_steps(problems(root)[slug])
    assert "solution" in contestant
    assert harness == "g++ -O2 -std=c++17 -o harness test/harness.cpp"


@pytest.mark.parametrize(("root", "slug"), ALL, ids=name_of)
def test_a_task_takes_all_shared_files(root: Path, slug: str) -> None:
    spec = yaml.safe_load((root / "problems" / slug / "problem-spec.yaml").read_text("utf-8"))
    assert spec["common"] == [file.path for file in files_in(root / "common")]


def test_both_releases_share_all_but_the_memory() -> None:
    gpu, cpu = ({file.path: file.content for file in files_in(root / "common")} for root in (GPU, CPU))
    assert gpu.keys() == cpu.keys()
    assert [path for path in gpu if gpu[path] != cpu[path]] == ["test/memory.h"]


@pytest.mark.parametrize("slug", CPU_SLUGS)
def test_both_forms_of_a_task_are_tested_alike(slug: str) -> None:
    forms = problems(GPU)[slug.removeprefix("cpp-")], problems(CPU)[slug]
    gpu, cpu = (file.content for of in forms for file in of.test_files if file.path == "test/harness.cpp")
    assert gpu == cpu
    assert forms[0].group == forms[1].group


@pytest.mark.parametrize(("root", "slug"), ALL, ids=name_of)
def test_no_file_is_refused_and_references_are_missing_where_they_should_be(root: Path, slug: str) -> None:
    of = problems(root)[slug]
    solutions = [(reference(of), "passed")]
    solutions += [(bad.files, bad.expect) for bad in of.podium.known_bad]
    solutions += [(sample(root, e, s, index), verdict) for e, s, index, verdict in samples(root) if s == slug]
    for files, verdict in solutions:
        assert WorkspaceRules.of(of).why_bad(files) == ""
        assert satisfied(of.source_references, files) == (verdict != Verdict.SOURCE_REFERENCE_MISSING)


@pytest.mark.parametrize("root", [GPU, CPU], ids=name_of)
def test_the_entrants_have_a_sample_of_every_task_and_differ_visibly(root: Path) -> None:
    passed = []
    for entrant in ENTRANTS:
        verdicts = [expected_verdicts(root, entrant)[slug] for slug in problems(root)]
        assert {len(of_task) for of_task in verdicts} == {1}
        passed.append(sum(of_task == [Verdict.PASSED] for of_task in verdicts))
    assert passed[0] > 2 * passed[1] > 0
    contents = [sample(root, entrant, slug, index)[0].content for entrant, slug, index, _ in samples(root)]
    assert len(set(contents)) == len(contents)


@pytest.mark.rest
@pytest.mark.parametrize("slug", JUDGED)
def test_a_reference_passes(slug: str, judge: Judge) -> None:
    assert judge.verdict(slug, reference(problems(CPU)[slug])) == Verdict.PASSED


@pytest.mark.rest
@pytest.mark.parametrize("slug", JUDGED[:3])
def test_a_solution_that_ends_its_process_at_once_fails(slug: str, judge: Judge) -> None:
    ending = problems(CPU)[slug].ending_early
    assert ending is not None
    assert judge.verdict(slug, list(ending.files)) == Verdict.TEST_FAILED


@pytest.mark.rest
@pytest.mark.parametrize(("slug", "bad"), KNOWN_BAD, ids=name_of)
def test_a_known_bad_solution_gets_its_verdict(slug: str, bad: KnownBad, judge: Judge) -> None:
    assert judge.verdict(slug, bad.files) == bad.expect


@pytest.mark.rest
@pytest.mark.parametrize(("entrant", "slug", "index", "expected"), [one for one in samples(CPU) if one[1] in JUDGED])
def test_a_sample_gets_its_verdict(entrant: str, slug: str, index: int, expected: str, judge: Judge) -> None:
    assert judge.verdict(slug, sample(CPU, entrant, slug, index)) == expected


@pytest.mark.rest
def test_a_run_can_be_repeated_by_its_seed(tmp_path: Path) -> None:
    of = problems(CPU)["cpp-vector-blend"]
    lay_out(tmp_path, [*of.context_files, *of.test_files, *of.podium.known_bad[0].files])
    assert run(of.build_command or "", tmp_path) == 0
    outputs = [
        subprocess.run(["./harness", seed], cwd=tmp_path, capture_output=True, text=True, check=False)
        for seed in ("7", "7", "8")
    ]
    assert [output.returncode for output in outputs] == [1, 1, 1]
    assert outputs[0].stdout.startswith("seed 7\npassed ")
    assert outputs[0].stderr == outputs[1].stderr != outputs[2].stderr


@requires("nvcc")
@pytest.mark.parametrize("slug", COMPILED)
def test_a_cuda_reference_and_its_harness_build(slug: str, tmp_path: Path) -> None:
    of = problems(GPU)[slug]
    lay_out(tmp_path, [*of.context_files, *of.test_files, *reference(of)])
    assert run((of.build_command or "").replace("nvcc ", "nvcc -arch=sm_90 "), tmp_path) == 0


def compiled_by_nvcc(folder: Path, of: CommandProblem, solution: Sequence[SourceFile]) -> bool:
    """The solution alone; its harness is the same for all of them."""
    lay_out(folder, [*of.context_files, *solution])
    return run("nvcc -arch=sm_90 -O2 -std=c++17 -I include -c -o solution.o solution.cu", folder) == 0


@requires("nvcc")
@compiles_everything
@pytest.mark.parametrize("slug", [slug for slug in problems(GPU) if slug not in COMPILED])
def test_every_cuda_solution_compiles_unless_its_build_must_fail(slug: str, tmp_path: Path) -> None:
    of = problems(GPU)[slug]
    solutions = [(reference(of), "passed")]
    solutions += [(bad.files, bad.expect) for bad in of.podium.known_bad]
    solutions += [(sample(GPU, e, s, index), verdict) for e, s, index, verdict in samples(GPU) if s == slug]
    for files, verdict in solutions:
        assert compiled_by_nvcc(tmp_path, of, files) == (verdict != Verdict.BUILD_FAILED)
