"""The judge of function problems on a real GPU: verdicts, faults and attacks, each beside its honest twin.

By hand, with the values that were measured:
python -m pytest -c /dev/null --rootdir=. --noconftest -q -s tests/gpu/test_functions_on_device.py
"""

# ruff: noqa: T201 - with -s the tests print the values that they measure

import importlib.util
import os
import re
import shutil
import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import pytest

from podium.evaluation.judges import local_judges
from podium.evaluation.run import limits_of
from podium.functions.manifests import ManifestMaker
from problems.formats.functions.pack import read_problem
from problems.spec.function.problem import FunctionProblem
from problems.spec.solution import FileSolution, SourceFile
from runners.agent.capabilities import gpus
from runners.agent.job.job import Job
from runners.agent.judges.registry import Judges
from runners.agent.sandbox.bubblewrap import why_unavailable
from runners.wire.job import JobRules, Sides
from runners.wire.protocol import Report, Role, TimingPolicy, Verdict
from tests.gpu.attack_sources import ATTACKS, ENDS, MAY_PASS, MUST_FAIL, SOURCES, attack

UUIDS = tuple(gpu.uuid for gpu in gpus())
pytestmark = pytest.mark.skipif(
    not UUIDS or shutil.which("nvcc") is None or why_unavailable() != "" or importlib.util.find_spec("torch") is None,
    reason="needs a GPU, nvcc, bubblewrap and torch",
)
LARGE = "16 Mi"
"""A case of about 5 ms: single times of one of 0.13 ms spread from 0.11 to 0.27 ms."""
DEFINITION = """\
import torch
from podium_functions import Array, Case, FunctionProblem, Scalar, Tolerance


class Poly(FunctionProblem):
    arrays = "torch"
    parameters = (
        Array("x", "float32", "in", ("n",)),
        Array("y", "float32", "out", ("n",)),
        Scalar("n", "size_t"),
    )
    accuracy = Tolerance(rtol=5e-3, atol=1e-5, reason="16,384 roundings of a sum of positive terms")
    cases = (Case("odd", n=1001), Case("16 Mi", n=1 << 24))

    def inputs(self, case, rng):
        return {"x": 0.99 * torch.rand(case.n, generator=rng, device=self.device)}

    def reference(self, case, x):
        wide = x.double()
        return (0.5 * (1 - wide**8192) / (1 - wide)).float()
"""
HONEST = """\
#include <cstddef>
__global__ void poly(const float* x, float* y, size_t n) {
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) {
        float v = 0.f, u = x[i];
        for (int k = 0; k < 8192; ++k) v = v * u + 0.5f;
        y[i] = v;
    }
}
"""
LAUNCH = 'extern "C" void solution(const float* x, float* y, size_t n) { poly<<<1056, 256>>>(x, y, n); }\n'
PYTHON = """\
import torch

def solution(x, y, n):
    wide = x.double()
    y.copy_(0.5 * (1 - wide**8192) / (1 - wide))
"""
WORK = "\n\ndef solution(x, y, n):\n    work(x, y)\n"
TEN_CASES = re.sub(
    r"cases = .*",
    'cases = tuple(Case(f"{k} Mi", n=(k << 20) + k) for k in range(6, 16))',
    DEFINITION,
)
TRITON = """\
import torch
import triton
import triton.language as tl


@triton.jit
def poly(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    u = tl.load(x + i, mask=i < n)
    v = tl.zeros_like(u)
    for _ in range(8192):
        v = v * u + 0.5
    tl.store(y + i, v, mask=i < n)


def solution(x, y, n):
    poly[(triton.cdiv(n, 1024),)](x, y, n, BLOCK=1024)
"""
EVENTS = """\
#include <cstdio>
static int timed = [] {
    float *x, *y, ms;
    size_t n = 1 << 24;
    cudaEvent_t a, b;
    cudaMalloc(&x, n * 4); cudaMalloc(&y, n * 4); cudaMemset(x, 0, n * 4);
    cudaEventCreate(&a); cudaEventCreate(&b);
    for (int k = 0; k < 5; ++k) {
        cudaEventRecord(a); poly<<<1056, 256>>>(x, y, n); cudaEventRecord(b); cudaDeviceSynchronize();
        cudaEventElapsedTime(&ms, a, b);
        printf("events %.4f ms\\n", ms);
    }
    cudaFree(x); cudaFree(y);
    fflush(stdout);
    return 1;
}();
"""
OVERRUN = HONEST + (
    'extern "C" void solution(const float* x, float* y, size_t n) {\n'
    "    poly<<<1056, 256>>>(x, y, n);\n    cudaMemset(y + n, 1, 64);\n}\n"
)
FAULT = (
    "#include <cstddef>\n__global__ void bad(float* y) { y[1ull << 40] = 1.f; }\n"
    'extern "C" void solution(const float* x, float* y, size_t n) { bad<<<1, 1>>>(y); }\n'
)
HANG = (
    "#include <cstddef>\n__global__ void spin(volatile float* y) { while (y[0] != 12345.f) {} }\n"
    'extern "C" void solution(const float* x, float* y, size_t n) { spin<<<1, 1>>>(y); }\n'
)


@pytest.fixture(scope="module")
def judges() -> Iterator[Judges]:
    with local_judges("bubblewrap", 1, bounded=False) as opened:
        yield opened


@pytest.fixture(scope="module")
def problem(judges: Judges, tmp_path_factory: pytest.TempPathFactory) -> FunctionProblem:
    return read(judges, tmp_path_factory.mktemp("poly"), DEFINITION)


@pytest.fixture(scope="module")
def ten_cases(judges: Judges, tmp_path_factory: pytest.TempPathFactory) -> FunctionProblem:
    return read(judges, tmp_path_factory.mktemp("poly"), TEN_CASES)


def read(judges: Judges, folder: Path, definition: str) -> FunctionProblem:
    (folder / "def.py").write_text(definition)
    (folder / "problem.md").write_text(
        "---\nslug: poly\ntitle: Polynomial\ntime_limit_seconds: 20\n---\nEvaluate it.\n"
    )
    return read_problem(folder, ManifestMaker(judges.environment.sandbox, UUIDS[:1]))


def judged(
    judges: Judges,
    problem: FunctionProblem,
    name: str,
    content: str,
    *,
    baseline: bool = False,
    timing: TimingPolicy = TimingPolicy.QUICK,
) -> Report:
    report = judges.judge(
        Job(
            problem=problem,
            problem_sha256=sha256(problem.to_line()).hexdigest(),
            solution=FileSolution(task_id=problem.task_id, files=[SourceFile(path=name, content=content)]),
            rules=JobRules(
                limits=limits_of(problem),
                sides=Sides.BOTH if baseline else Sides.SOLUTION,
                timing_policy=timing,
            ),
        )
    ).report
    print(f"\n{report.verdict.value} {report.reason[:300]} {times_of(report)} {[flag.code for flag in report.flags]}")
    return report


def times_of(report: Report) -> dict[str, float]:
    return {one.case: one.median_ms for one in report.measurements if one.role is Role.CANDIDATE}


@pytest.fixture(scope="module")
def honest_ms(judges: Judges, problem: FunctionProblem) -> dict[str, float]:
    """Median of three runs of the attacks' plain work, in milliseconds, by the name of a solution's file."""
    works = {"solution.cu": HONEST + LAUNCH, "solution.py": (SOURCES / "poly.py").read_text() + WORK}
    return {
        name: statistics.median(times_of(judged(judges, problem, name, content))[LARGE] for _ in range(3))
        for name, content in works.items()
    }


@pytest.mark.parametrize(
    ("name", "content"),
    [("solution.cu", HONEST + LAUNCH), ("solution.py", PYTHON), ("solution.py", TRITON)],
    ids=["cuda", "torch", "triton"],
)
def test_a_right_solution_passes_and_is_timed(
    judges: Judges, problem: FunctionProblem, name: str, content: str
) -> None:
    report = judged(judges, problem, name, content, baseline=True)
    assert report.verdict is Verdict.PASSED, report.reason
    assert LARGE in times_of(report)
    assert {one.case for one in report.measurements if one.role is Role.BASELINE} >= {LARGE}
    for one in report.measurements:
        print(one.role.value, one.case, round(one.median_ms, 4), one.device)


def solution_of(attack_file: str) -> str:
    """The name under which an attack is submitted."""
    return f"solution{Path(attack_file).suffix}"


@pytest.mark.parametrize("file", sorted(MUST_FAIL))
def test_an_attack_that_cannot_hide_fails(judges: Judges, problem: FunctionProblem, file: str) -> None:
    report = judged(judges, problem, solution_of(file), attack(file))
    assert report.verdict in {Verdict.WRONG_ANSWER, ENDS.get(file)}, (MUST_FAIL[file], report.reason)
    assert "The solution failed" not in report.reason, "an error of its own shows nothing"


@pytest.mark.parametrize("file", sorted(MAY_PASS))
def test_an_attack_that_passes_gains_nothing(
    judges: Judges, problem: FunctionProblem, file: str, honest_ms: dict[str, float]
) -> None:
    assert gains(judges, problem, solution_of(file), attack(file), honest_ms) == "", MAY_PASS[file]


@pytest.mark.parametrize("file", ATTACKS)
def test_the_honest_twin_of_an_attack_passes(judges: Judges, problem: FunctionProblem, file: str) -> None:
    report = judged(judges, problem, solution_of(file), attack(file, honest=True))
    assert (report.verdict, report.reason) == (Verdict.PASSED, "")
    assert LARGE in times_of(report)


def gains(judges: Judges, problem: FunctionProblem, name: str, content: str, honest_ms: dict[str, float]) -> str:
    """Returns the reason why the attack gains something; empty if it fails, is flagged, or is no faster by 5 % than
    honest work."""
    report = judged(judges, problem, name, content)
    print(report.verdict, report.reason, [flag.code for flag in report.flags], times_of(report))
    if report.verdict is not Verdict.PASSED:
        assert report.verdict is Verdict.WRONG_ANSWER, f"an error of its own shows nothing: {report.reason}"
        return ""
    if report.flags:
        return ""
    own_ms = times_of(report).get(LARGE, honest_ms[name])
    return "" if own_ms > 0.95 * honest_ms[name] else f"{own_ms:.3f} ms instead of {honest_ms[name]:.3f}"


def test_a_changed_input_is_named(judges: Judges, problem: FunctionProblem) -> None:
    report = judged(judges, problem, "solution.cu", attack("input_mutation.cu"))
    assert (report.verdict, "changed its input `x`" in report.reason) == (Verdict.WRONG_ANSWER, True)


def test_a_write_beyond_an_output_is_named(judges: Judges, problem: FunctionProblem) -> None:
    report = judged(judges, problem, "solution.cu", OVERRUN)
    assert (report.verdict, "wrote outside of `y`" in report.reason) == (Verdict.WRONG_ANSWER, True)


@pytest.mark.parametrize(
    ("content", "verdict"), [(FAULT, Verdict.TEST_FAILED), (HANG, Verdict.TIMED_OUT)], ids=["fault", "hang"]
)
def test_a_contestant_s_fault_is_its_own_and_the_next_sample_is_judged(
    judges: Judges, problem: FunctionProblem, content: str, verdict: Verdict
) -> None:
    assert judged(judges, problem, "solution.cu", content).verdict is verdict
    assert judged(judges, problem, "solution.cu", HONEST + LAUNCH).verdict is Verdict.PASSED


def test_late_samples_agree_with_early_ones(judges: Judges, problem: FunctionProblem) -> None:
    count = int(os.environ.get("PODIUM_SAMPLES", "12"))
    began = time.monotonic()
    times = [times_of(judged(judges, problem, "solution.cu", HONEST + LAUNCH))[LARGE] for _ in range(count)]
    print([round(one, 4) for one in times], f"{(time.monotonic() - began) / count:.2f} s a sample")
    early, late = statistics.median(times[: count // 2]), statistics.median(times[count // 2 :])
    assert abs(late / early - 1) < 0.05


@dataclass(frozen=True)
class Latency:
    """The longest time of a sample with ten cases after its build, with a checker that is warm."""

    name: str
    content: str
    most_seconds: float


@pytest.mark.parametrize(
    "wanted",
    [Latency("solution.cu", HONEST + LAUNCH, 3.0), Latency("solution.py", TRITON, 8.0)],
    ids=["cuda", "triton"],
)
def test_a_sample_of_ten_cases_is_graded_soon(judges: Judges, ten_cases: FunctionProblem, wanted: Latency) -> None:
    warm = {"solution.cu": HONEST + LAUNCH, "solution.py": PYTHON}[wanted.name]
    judged(judges, ten_cases, wanted.name, warm)  # the checker knows the language's own overhead then
    began = time.monotonic()
    report = judged(judges, ten_cases, wanted.name, wanted.content)
    build_seconds = sum(step.wall_ms for step in report.steps if step.name == "build" and not step.cached) / 1e3
    seconds = time.monotonic() - began - build_seconds
    print(
        f"{seconds:.2f} s after a build of {build_seconds:.2f} s, {[(s.name, round(s.wall_ms)) for s in report.steps]}"
    )
    assert (report.verdict, len(times_of(report))) == (Verdict.PASSED, 10)
    assert seconds <= wanted.most_seconds


def test_the_clock_agrees_with_the_device_s_own_events(judges: Judges, problem: FunctionProblem) -> None:
    """The same kernel between two events of its own process, on arrays of its own, printed while it is loaded."""
    report = judged(judges, problem, "solution.cu", HONEST + EVENTS + LAUNCH)
    run = next(step for step in report.steps if step.name == "run")
    events_ms = statistics.median(float(one) for one in re.findall(r"events ([\d.]+) ms", run.log.text))
    print("events", events_ms, "clock", times_of(report))
    assert times_of(report)[LARGE] == pytest.approx(events_ms, rel=0.05)


WEIGHTED = """\
import torch
from podium_functions import Array, Case, FunctionProblem, Scalar, Tolerance


class Weighted(FunctionProblem):
    arrays = "torch"
    parameters = (
        Array("x", "float32", "in", ("n",)),
        Array("weight", "float32", "in", ("n",), role="weight"),
        Array("y", "float32", "out", ("n",)),
        Scalar("n", "size_t"),
    )
    accuracy = Tolerance(rtol=1e-6, atol=0, reason="one product")
    cases = (Case("odd", n=1001), Case("16 Mi", n=1 << 24))

    def inputs(self, case, rng):
        made = {"generator": rng, "device": self.device}
        return {"x": torch.rand(case.n, **made), "weight": torch.rand(case.n, **made)}

    def reference(self, case, x, weight):
        return x * weight
"""
KEEPS_IN_CUDA = """\
#include <cstddef>
static float* kept = nullptr;
__global__ void product(const float* x, const float* w, float* y, size_t n) {
    for (size_t i = blockIdx.x * 256ull + threadIdx.x; i < n; i += gridDim.x * 256ull) y[i] = x[i] * w[i];
}
extern "C" void setup(const float* weight, size_t n) {
    cudaFree(kept);
    cudaMalloc(&kept, n * sizeof(float));
    cudaMemcpy(kept, weight, n * sizeof(float), cudaMemcpyDeviceToDevice);
}
extern "C" void solution(const float* x, const float*, float* y, size_t n) { product<<<1056, 256>>>(x, kept, y, n); }
"""
KEEPS_IN_TORCH = """\
import torch


def setup(weight, n):
    global kept
    kept = weight.clone()


def solution(x, weight, y, n):
    torch.mul(x, kept, out=y)
"""


@pytest.mark.parametrize(("name", "content"), [("solution.cu", KEEPS_IN_CUDA), ("solution.py", KEEPS_IN_TORCH)])
def test_what_setup_keeps_of_the_weights_serves_every_call(
    judges: Judges, tmp_path: Path, name: str, content: str
) -> None:
    weighted = read(judges, tmp_path, WEIGHTED)
    report = judged(judges, weighted, name, content)
    assert report.verdict is Verdict.PASSED
    shown = [{field.name: field.value for field in case.fields} for case in report.cases]
    print([case["setup_ms"] for case in shown])
    without = judged(judges, weighted, name, content.replace("setup", "other"))
    assert without.verdict in (Verdict.WRONG_ANSWER, Verdict.TEST_FAILED), without.reason


def test_the_reference_by_torch_compile_passes(judges: Judges, problem: FunctionProblem) -> None:
    compiled = problem.baselines["compiled"].files[0]
    assert judged(judges, problem, compiled.path, compiled.content).verdict is Verdict.PASSED
