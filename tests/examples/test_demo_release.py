"""The demo release does what it says: references pass, known-bad solutions and samples get their verdicts."""

from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

from problems.spec.podium_metadata import KnownBad
from problems.spec.command.workspace_rules import WorkspaceRules
from runners.agent.sandbox import choose
from runners.agent.sandbox.policy import Command, Limits
from runners.wire.protocol import Verdict, Witness
from tests.examples.judge import DEMO, ENTRANTS, SLUGS, Workspace, entrant_spec, problem, reference, sample
from tests.requirements import requires

pytestmark = pytest.mark.rest

TIMED_OUT_AFTER_SECONDS = 3.0
"""Enough to tell a solution that never ends: those that pass need well under one."""

SEEN_BY_A_WITNESS_ALONE = {"leaves-before-main", "leaves-from-within", "ends-the-program"}
"""Solutions that end the harness's own process with exit code 0."""

FAILS_THE_BENCHMARK = {
    "cpp-histogram": "sixteen-bit-counters",
    "cpp-image-filter": "zeros-outside",
    "cpp-matmul": "adds-to-c",
    "cpp-sort-keys": "drops-duplicates",
    "cpp-spmv": "one-entry-too-many",
    "py-increasing-run": "leaves-on-import",
    "py-nearest-points": "city-blocks",
    "py-window-median": "upper-median",
}

KNOWN_BAD = [(slug, bad) for slug in SLUGS for bad in problem(slug).podium.known_bad]
PLAIN_BAD = [(slug, bad) for slug, bad in KNOWN_BAD if bad.name not in SEEN_BY_A_WITNESS_ALONE]
LEAVERS = [(slug, bad) for slug, bad in KNOWN_BAD if bad.name in SEEN_BY_A_WITNESS_ALONE]
SAMPLES = [
    (entrant, slug, index, verdict)
    for entrant in ENTRANTS
    for slug, verdicts in entrant_spec(entrant)["expected"].items()
    for index, verdict in enumerate(verdicts)
    if verdict != Verdict.INVALID
]


def limit_for(expected: str) -> float | None:
    return TIMED_OUT_AFTER_SECONDS if expected == Verdict.TIMED_OUT else None


def name_of(value: object) -> str | None:
    return value.name if isinstance(value, KnownBad) else None


def test_there_are_eight_problems_in_two_groups() -> None:
    assert Counter(problem(slug).group for slug in SLUGS) == {"cpp-kernels": 5, "python-kernels": 3}


@pytest.mark.parametrize("slug", SLUGS)
def test_a_problem_says_all_that_its_page_and_its_judge_need(slug: str) -> None:
    podium = problem(slug).podium
    assert podium.title and podium.starter and podium.work_checked
    assert len(podium.known_bad) >= 2
    assert problem(slug).task_id == slug.replace("-", "/", 1)
    assert podium.harness == ("separate" if slug.startswith("py-") else "in_process")


@pytest.mark.parametrize("slug", SLUGS)
def test_no_honest_file_is_refused(slug: str) -> None:
    solutions = [reference(slug), problem(slug).podium.starter]
    solutions += [sample(entrant, of, index) for entrant, of, index, _ in SAMPLES if of == slug]
    assert [WorkspaceRules.of(problem(slug)).why_bad(files) for files in solutions] == [""] * len(solutions)


@pytest.mark.parametrize("slug", SLUGS)
def test_a_reference_passes_its_tests_and_its_benchmark(slug: str, tmp_path: Path) -> None:
    workspace = Workspace(tmp_path, slug, reference(slug))
    assert workspace.verdict() == Verdict.PASSED
    assert workspace.benchmark()


@pytest.mark.rest
@pytest.mark.parametrize(("slug", "bad"), PLAIN_BAD, ids=name_of)
def test_a_known_bad_solution_gets_its_verdict_and_a_benchmark_refuses_its_work(
    slug: str, bad: KnownBad, tmp_path: Path
) -> None:
    workspace = Workspace(tmp_path, slug, bad.files)
    assert workspace.verdict(limit_for(bad.expect)) == bad.expect
    if FAILS_THE_BENCHMARK[slug] == bad.name:
        # Benchmarks look at some answers, drawn each time: work that is wrong now and then may slip through once.
        assert not all(workspace.benchmark() for _ in range(3))


def test_a_benchmark_is_seen_to_refuse_wrong_work_in_every_problem() -> None:
    assert sorted(FAILS_THE_BENCHMARK) == sorted(SLUGS)
    assert FAILS_THE_BENCHMARK.items() <= {(slug, bad.name) for slug, bad in PLAIN_BAD}


@requires("bubblewrap")
@pytest.mark.parametrize(("slug", "bad"), LEAVERS, ids=name_of)
def test_a_solution_that_ends_the_harness_is_contradicted(slug: str, bad: KnownBad, tmp_path: Path) -> None:
    workspace = Workspace(tmp_path / "workspace", slug, bad.files)
    assert workspace.build()
    limits = Limits(
        wall_seconds=10,
        memory_bytes=1 << 30,
        processes=64,
        file_bytes=1 << 20,
        workspace_bytes=1 << 26,
        output_bytes=1 << 16,
    )
    sandbox = choose("bubblewrap")
    outcome = sandbox.run(Command(workspace.problem.test_command, workspace.folder, limits, trace=True))
    sandbox.close()
    assert (outcome.exit_code, outcome.witness) == (0, Witness.CONTRADICTED)
    assert bad.expect == "test_failed"


@pytest.mark.parametrize(("entrant", "slug", "index", "expected"), [row for row in SAMPLES if row[2] == 0])
def test_a_first_sample_gets_its_verdict(entrant: str, slug: str, index: int, expected: str, tmp_path: Path) -> None:
    assert Workspace(tmp_path, slug, sample(entrant, slug, index)).verdict(limit_for(expected)) == expected


@pytest.mark.rest
@pytest.mark.parametrize(("entrant", "slug", "index", "expected"), [row for row in SAMPLES if row[2] > 0])
def test_every_further_sample_gets_its_verdict(
    entrant: str, slug: str, index: int, expected: str, tmp_path: Path
) -> None:
    workspace = Workspace(tmp_path, slug, sample(entrant, slug, index))
    assert workspace.verdict(limit_for(expected)) == expected
    assert expected != Verdict.PASSED or workspace.benchmark()


def test_an_invalid_sample_is_one_that_is_not_there() -> None:
    for entrant in ENTRANTS:
        spec = entrant_spec(entrant)
        for slug in SLUGS:
            verdicts = spec["expected"][slug]
            there = [(DEMO / "entrants" / entrant / slug / str(index)).is_dir() for index in range(len(verdicts))]
            assert len(verdicts) == spec["samples_per_problem"]
            assert there == [verdict != Verdict.INVALID for verdict in verdicts]


def test_the_entrants_differ_visibly() -> None:
    passed = [sum(v == Verdict.PASSED for e, *_, v in SAMPLES if e == entrant) for entrant in ENTRANTS]
    assert passed == sorted(passed, reverse=True)
    assert min(more - fewer for more, fewer in pairwise(passed)) >= 3


def test_no_two_samples_are_alike() -> None:
    contents = [sample(entrant, slug, index)[0].content for entrant, slug, index, _ in SAMPLES]
    assert len(set(contents)) == len(contents)
