"""A CUDA solution's build says what registers its kernels take, and leaves SASS and PTX as text. No GPU is needed."""

import gzip
import shutil
from collections.abc import Iterator

import pytest

from problems.spec.record import ProblemRecord
from problems.spec.solution import FileSolution, SourceFile
from runners.agent.ground.events import Progress
from runners.agent.job.artefact import file_in
from runners.agent.job.build_cache import Build
from runners.agent.job.building import build
from runners.agent.job.job import BuildPolicy, Job
from runners.agent.judges.function.subject import LISTING, MAX_LISTING_BYTES, FunctionSubject
from runners.wire.job import JobRules
from tests.agent.functions.table import LIMITS, SCALE, Table, problem
from tests.requirements import requires

pytestmark = [requires("nvcc"), requires("bubblewrap")]

SCALE_CUDA = """
#include <cstddef>
__global__ void scale(const float* x, float* y, size_t n) {
    size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
    if (i < n) y[i] = 3 * x[i];
}
extern "C" void solution(const float* x, float* y, size_t n) { scale<<<(n + 255) / 256, 256>>>(x, y, n); }
"""
WRONG_CUDA = 'extern "C" void solution(const float* x, float* y, size_t n) { nothing }\n'
ROOM = LIMITS.model_copy(update={"memory_bytes": 4 << 30, "processes": 256})


@pytest.fixture(scope="module")
def table() -> Iterator[Table]:
    """A table of this machine's tools: the images of other sandboxes have no nvcc."""
    opened = Table("bubblewrap")
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def scale() -> ProblemRecord:
    return problem(SCALE, device="gpu", languages=["cuda"])


def built(table: Table, record: ProblemRecord, text: str) -> Build:
    files = FileSolution(task_id=record.task_id, files=[SourceFile(path="solution.cu", content=text)])
    policy = BuildPolicy("default", "sm_90")
    image = table.environment.image_for("")
    job = Job(record, "0" * 64, files, JobRules(limits=ROOM), image=image, build_policy=policy)
    order = FunctionSubject.of(job).build_order
    assert order
    return build(table.environment, order, Progress())


def test_the_build_log_names_the_registers_and_spills_of_each_kernel(table: Table, scale: ProblemRecord) -> None:
    done = built(table, scale, SCALE_CUDA)
    assert done.succeeded, done.stderr
    assert "Function properties for _Z5scalePKfPfm" in done.stderr
    assert "0 bytes spill stores" in done.stderr
    assert "Used " in done.stderr


def test_a_build_that_fails_fails(table: Table, scale: ProblemRecord) -> None:
    done = built(table, scale, WRONG_CUDA)
    assert done.exit_code != 0
    assert "nothing" in done.stderr


@requires("cuobjdump")
def test_the_product_holds_sass_and_ptx(table: Table, scale: ProblemRecord) -> None:
    done = built(table, scale, SCALE_CUDA)
    listing = file_in(done.product, LISTING, MAX_LISTING_BYTES)
    assert listing, done.stderr
    sass, _, ptx = gzip.decompress(listing).decode().partition("== ptx\n")
    assert sass.startswith("== sass\n")
    assert "EXIT ;" in sass
    assert "/* 0x" not in sass, "no encodings"
    assert ".visible .entry _Z5scalePKfPfm" in ptx


@pytest.mark.skipif(shutil.which("cuobjdump") is not None, reason="this machine has cuobjdump")
def test_a_node_without_cuobjdump_has_no_listing(table: Table, scale: ProblemRecord) -> None:
    assert file_in(built(table, scale, SCALE_CUDA).product, LISTING, MAX_LISTING_BYTES) is None
