"""Near-duplicate code: a renamed copy is found, independent solutions and what the problem gives are not."""

import io
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from leaderboard.models import CodePair, Entrant, Fingerprint, Membership, Submission
from leaderboard.similarity import compare
from leaderboard.similarity.fingerprints import Hashes, hashes_of, own_sketch, similarity
from leaderboard.similarity.pairs import KEYS, LEAST_HASHES, SIMILAR, Sketch, similar_pairs
from problems.spec.solution import SourceFile
from tests import factories, packs
from tests.admin.pages import signed_in, text

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]
EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
PAIRS = "admin:leaderboard_codepair_changelist"

ORIGINAL = """
#include <cstdio>
// Sums rows in shared memory.
__global__ void row_sums(const float* matrix, float* sums, int rows, int columns) {
    __shared__ float partial[256];
    int row = blockIdx.x;
    float total = 0.0f;
    for (int column = threadIdx.x; column < columns; column += blockDim.x) {
        total += matrix[row * columns + column];
    }
    partial[threadIdx.x] = total;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) sums[row] = partial[0];
}
"""
RENAMED = """
#include <stdio.h>
/* my own kernel */
__global__ void kernel1(const float* A, float* out, int n, int m)
{
    __shared__ float buf[512];
    int r = blockIdx.x; float acc = 0.f;
    for (int c = threadIdx.x; c < m; c += blockDim.x) { acc += A[r * m + c]; }
    buf[threadIdx.x] = acc;
    __syncthreads();   // wait
    for (int s = blockDim.x / 2; s > 0; s /= 2) {
        if (threadIdx.x < s) buf[threadIdx.x] += buf[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0) out[r] = buf[0];
}
"""
INDEPENDENT = """
#include <cuda_runtime.h>
__global__ void row_sums(const float* in, float* out, int rows, int columns) {
    const int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (warp >= rows) return;
    const float4* line = reinterpret_cast<const float4*>(in + static_cast<size_t>(warp) * columns);
    float a = 0, b = 0, c = 0, d = 0;
    for (int i = lane; i < columns / 4; i += 32) {
        const float4 value = line[i];
        a += value.x; b += value.y; c += value.z; d += value.w;
    }
    float mine = (a + b) + (c + d);
    for (int offset = 16; offset; offset >>= 1) mine += __shfl_down_sync(0xffffffff, mine, offset);
    if (lane == 0) out[warp] = mine;
}
"""
PYTHON = '''
"""Docs."""
import numpy as np

def solve(values, limit):
    """Return the running maxima."""
    best = values[0]
    out = []
    for place, value in enumerate(values):  # every one
        if value > best and place < limit:
            best = value
        elif value == best:
            out.append((place, best))
        else:
            out.append((place, value - best * 2))
    return np.asarray(out, dtype=np.float32).reshape(-1, 2)
'''


def code(content: str, path: str = "solution.cu") -> list[SourceFile]:
    return [SourceFile(path=path, content=content)]


def sketch(content: str, given: str = "", path: str = "solution.cu") -> Hashes:
    return own_sketch(code(content, path), hashes_of(code(given, path)))


def test_a_renamed_copy_is_the_same_and_independent_code_is_not() -> None:
    assert similarity(sketch(ORIGINAL), sketch(RENAMED)) == 1.0
    assert similarity(sketch(ORIGINAL), sketch(INDEPENDENT)) < SIMILAR / 3
    assert min(map(len, (sketch(ORIGINAL), sketch(INDEPENDENT)))) >= LEAST_HASHES


def test_a_copy_with_lines_put_in_and_left_out_is_still_similar() -> None:
    changed = RENAMED.replace("/* my own kernel */", "static int unused(int q) { return q * q - 1; }")
    changed = changed.replace("if (threadIdx.x == 0) out", "if (!threadIdx.x) out")
    assert SIMILAR <= similarity(sketch(ORIGINAL), sketch(changed)) < 1.0


def test_python_is_read_as_python() -> None:
    renamed = PYTHON.replace("values", "xs").replace("best", "top").replace("# every one", "# all").replace("Docs", "X")
    assert similarity(sketch(PYTHON, path="a.py"), sketch(renamed, path="a.py")) == 1.0
    assert len(sketch(PYTHON, path="a.py")) >= LEAST_HASHES


def test_what_the_problem_gives_does_not_count() -> None:
    assert len(sketch(RENAMED, given=ORIGINAL)) == 0
    mine, yours = ORIGINAL + INDEPENDENT, RENAMED + PYTHON.replace("#", "//")
    assert similarity(sketch(mine), sketch(yours)) > similarity(sketch(mine, ORIGINAL), sketch(yours, ORIGINAL))


@pytest.mark.rest
def test_the_examples_own_solutions_are_apart() -> None:
    """557 files that one team wrote for the same problems: none of its pairs would be shown."""
    shares = []
    for entrants in EXAMPLES.glob("*/entrants"):
        by_problem: dict[str, list[Hashes]] = {}
        for folder in sorted(entrants.glob("*/*")):
            release = entrants.parent
            files = hashes_of([*_files(release / "problems" / folder.name), *_files(release / "common")])
            by_problem.setdefault(folder.name, []).append(own_sketch(_files(folder), files))
        for sketches in by_problem.values():
            long = [one for one in sketches if len(one) >= LEAST_HASHES]
            shares += [similarity(one, other) for n, one in enumerate(long) for other in long[:n]]
    assert len(shares) > 100
    assert max(shares) < 0.5


def _files(folder: Path) -> list[SourceFile]:
    paths = [path for path in sorted(folder.rglob("*")) if path.suffix in {".cu", ".cpp", ".h", ".cuh", ".py"}]
    return [SourceFile(path=path.name, content=path.read_text(errors="replace")) for path in paths
            if "known" not in str(path.relative_to(folder))]  # fmt: skip


def test_pairs_are_found_among_many_without_comparing_all() -> None:
    import numpy as np

    drawn = np.random.default_rng(7)
    sketches = [Sketch(n, n, np.sort(drawn.integers(0, 2**63, 256, dtype=np.uint64))) for n in range(2000)]
    copy = sketches[1234].hashes.copy()
    copy[::7] += 1
    sketches.append(Sketch(9999, 9999, np.sort(copy)))
    found = similar_pairs(sketches, {9999})
    assert [(one.one.sample_id, one.other.sample_id) for one in found] == [(1234, 9999)]
    assert similar_pairs(sketches, {1}) == []
    assert KEYS < 256


def test_a_crowd_of_equal_samples_stays_bounded() -> None:
    one = sketch(ORIGINAL)
    crowd = [Sketch(n, n, one) for n in range(1000)]
    assert 0 < len(similar_pairs(crowd, {0})) < 100


@pytest.mark.parametrize(
    "content", ["", "\x00\x01", "/* never closed", '"' * 999, "(" * 5000, "é" * 5000, "'''", "1e9" * 99]
)
def test_no_text_breaks_the_reader(content: str) -> None:
    for path in ("a.cu", "a.py", "noending"):
        assert len(sketch(content, path=path)) >= 0


def submitted(entrant: Entrant, made: Any, content: str) -> Submission:
    """A submission whose every sample is this file."""
    from leaderboard.actions.intake.submit import submit
    from leaderboard.intake.catalogue import catalogue_of
    from leaderboard.rows.submissions import SubmissionMetadata
    from problems.formats.submission import read_submission

    track = factories.TrackFactory()
    lines = [packs.solution(one, content) for one in made.problems.values_list("task_id", flat=True)]
    draft = read_submission(packs.solution_pack(lines, made.datapack_release), "p.tar.gz", catalogue_of(made))
    return submit(
        factories.submitter(entrant), SubmissionMetadata(entrant=entrant, release=made, tracks=[track]), draft
    ).submission


@pytest.fixture
def compared(cast: Any) -> CodePair:
    made = factories.release(1)
    factories.offer(made)
    submitted(cast.entrant, made, ORIGINAL)
    submitted(cast.entrant, made, ORIGINAL + "\n// again\n")
    submitted(cast.strangers_entrant, made, RENAMED)
    submitted(factories.EntrantFactory(name="Gamma", slug="gamma", owner=cast.stranger), made, INDEPENDENT)
    while compare.compare_new(limit=2):
        pass
    return CodePair.objects.select_related("entrant", "other_entrant").get()


def test_the_sites_worker_finds_the_pair_once(cast: Any, compared: CodePair) -> None:
    assert {compared.entrant, compared.other_entrant} == {cast.entrant, cast.strangers_entrant}
    assert compared.similarity == 1.0
    assert not Submission.objects.filter(compared_at=None).exists()
    assert Fingerprint.objects.count() == 4
    Submission.objects.update(compared_at=None)
    out = io.StringIO()
    call_command("compare_code", stdout=out)
    assert out.getvalue() == "4 submissions compared; 1 similar pairs are known.\n"
    assert Fingerprint.objects.count() == 4


def test_organisers_read_both_codes_side_by_side(cast: Any, compared: CodePair) -> None:
    browser = signed_in(cast.organiser)
    page = text(browser.get(reverse(PAIRS)))
    assert "100.0" in page
    assert "apart" in page
    assert "at least 60.0 % the same" in page
    pair = text(browser.get(reverse("admin:leaderboard_codepair_change", args=[compared.pk])))
    assert "row_sums" in pair
    assert "kernel1" in pair
    assert "No such pair" in text(browser.get(reverse(PAIRS) + "?release=other"))
    assert "100.0" in text(browser.get(reverse(PAIRS) + "?release=test-1&problem=Shell"))


def test_a_common_teammate_is_said(cast: Any, compared: CodePair) -> None:
    Membership.objects.create(team=cast.entrant.team, user=cast.stranger, role="reader")
    assert "in common" in text(signed_in(cast.organiser).get(reverse(PAIRS)))


def test_nobody_else_reads_the_pairs(cast: Any, compared: CodePair) -> None:
    clerk = factories.UserFactory(username="clerk", is_staff=True)
    for path in (reverse(PAIRS), reverse("admin:leaderboard_codepair_change", args=[compared.pk])):
        assert [signed_in(user).get(path).status_code for user in (cast.owner, clerk)] == [302, 403]
    change = reverse("admin:leaderboard_codepair_change", args=[compared.pk])
    assert signed_in(cast.organiser).post(change).status_code == 403
    assert signed_in(cast.organiser).get(reverse("admin:leaderboard_codepair_change", args=["x"])).status_code == 404


def test_more_pairs_cost_no_more_queries(cast: Any, compared: CodePair) -> None:
    def cost() -> int:
        with CaptureQueriesContext(connection) as queries:
            assert signed_in(cast.organiser).get(reverse(PAIRS)).status_code == 200
        return len(queries)

    before = cost()
    for n in range(5):
        submitted(factories.EntrantFactory(owner=cast.owner), compared.problem.release, f"{RENAMED}\n// {n}")
    compare.compare_new(limit=10)
    assert CodePair.objects.count() > 5
    assert cost() == before


def test_verifying_and_baselines_are_not_compared(cast: Any) -> None:
    made = factories.release(1)
    factories.offer(made)
    baseline = factories.EntrantFactory(kind="baseline", owner=cast.organiser)
    submitted(baseline, made, ORIGINAL)
    submitted(cast.entrant, made, ORIGINAL)
    assert compare.compare_new() == 2
    assert not CodePair.objects.exists()
    assert Fingerprint.objects.count() == 1
