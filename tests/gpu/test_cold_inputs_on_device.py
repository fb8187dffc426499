"""Asking for inputs to stay in the persisting part of the L2 cache gains nothing in the next call, on a real GPU.

By hand, with the values that were measured, from a tree that holds all of `tests`:
python -m pytest -c /dev/null --rootdir=. --noconftest -q -s tests/gpu/test_cold_inputs_on_device.py
"""

# ruff: noqa: T201 - with -s the tests print the values that they measure

import statistics

import pytest

from problems.spec.function.problem import FunctionProblem
from runners.agent.judges.registry import Judges
from runners.wire.protocol import Role, Verdict
from tests.gpu import test_functions_on_device as functions
from tests.gpu.test_functions_on_device import judged, read
from tests.gpu.test_functions_on_device import judges as judges  # noqa: PLC0414 - the fixture

pytestmark = functions.pytestmark
CASE = "64 Mi"
WALKED = 1 << 22
"""Numbers at the start of `x` that are read: 16 MiB. All of `x` would take too long to be written inside the clock."""
DEFINITION = """\
import torch
from podium_functions import Array, Case, FunctionProblem, Scalar, Tolerance


class Sampled(FunctionProblem):
    arrays = "torch"
    parameters = (
        Array("x", "float32", "in", ("n",)),
        Array("y", "float32", "out", ("m",)),
        Scalar("n", "size_t"),
        Scalar("m", "size_t"),
    )
    accuracy = Tolerance(rtol=1e-5, atol=0, reason="a sum of 4,096 positive terms")
    cases = (Case("small", n=1 << 22, m=1 << 18), Case("64 Mi", n=1 << 26, m=1 << 24))

    def inputs(self, case, rng):
        return {"x": torch.rand(case.n, generator=rng, device=self.device)}

    def reference(self, case, x):
        total = x[: 1 << 22 : 1024].double().sum()
        for _ in range(40):  # long enough to be timed
            total = total + 0 * torch.rand(case.m, device=self.device).double().sum()
        return total.float().expand(case.m).contiguous()
"""
"""One number in each 4 KiB of the first 16 MiB is read. The output is large for the case to count as long enough."""
SOLUTION = """\
#include <cstddef>
__global__ void walk(const float* x, float* y) {
    double total = 0;
    size_t skipped = 0;  // 0 always, but the next address is known only when the number before it has come
    for (size_t k = 0; k < 4096; ++k) {
        const float v = x[k * 1024 + skipped];
        skipped = v > 2.f;
        total += v;
    }
    y[0] = (float)total;
}
__global__ void spread(float* y, size_t m) {
    const float total = y[0];
    for (size_t i = 1 + blockIdx.x * 256ull + threadIdx.x; i < m; i += gridDim.x * 256ull) y[i] = total;
}
extern "C" void solution(const float* x, float* y, size_t n, size_t m) {
    static cudaStream_t stream = nullptr;
    static const float* kept = nullptr;
    if (stream == nullptr) cudaStreamCreate(&stream);
    if (KEEPS && kept != x) {
        cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, WALKED * sizeof *x);
        cudaStreamAttrValue wanted{};
        wanted.accessPolicyWindow.base_ptr = const_cast<float*>(x);
        wanted.accessPolicyWindow.num_bytes = WALKED * sizeof *x;
        wanted.accessPolicyWindow.hitRatio = 1.f;
        wanted.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
        wanted.accessPolicyWindow.missProp = cudaAccessPropertyStreaming;
        cudaStreamSetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &wanted);
        kept = x;
    }
    walk<<<1, 1, 0, stream>>>(x, y);
    spread<<<1056, 256, 0, stream>>>(y, m);
}
"""


@pytest.fixture(scope="module")
def problem(judges: Judges, tmp_path_factory: pytest.TempPathFactory) -> FunctionProblem:
    return read(judges, tmp_path_factory.mktemp("sampled"), DEFINITION)


def test_inputs_kept_in_the_persisting_cache_gain_nothing(judges: Judges, problem: FunctionProblem) -> None:
    taken_ms: dict[int, list[float]] = {0: [], 1: []}
    for keeps in (0, 1) * 3:
        report = judged(judges, problem, "solution.cu", f"#define KEEPS {keeps}\n#define WALKED {WALKED}\n{SOLUTION}")
        assert (report.verdict, report.reason) == (Verdict.PASSED, "")
        (timed,) = [one for one in report.measurements if (one.role, one.case) == (Role.CANDIDATE, CASE)]
        assert timed.device["inputs_inside_clock"] == "1/256 of the cache lines"
        taken_ms[keeps].append(timed.median_ms)
    honest_ms, keeping_ms = (statistics.median(taken_ms[keeps]) for keeps in (0, 1))
    print(f"kept in the cache {keeping_ms:.4f} ms, not kept {honest_ms:.4f} ms")
    assert keeping_ms > 0.95 * honest_ms
