"""Solutions for the tests of a hand-off: attacks on it from `attacks/hand_off`, and honest ones of many kinds.

The problem is `DEFINITION`'s: `y = chain(x)`, for three lengths of the work.
"""

from pathlib import Path

from benchmarks.clock_kernels import CHAIN

SOURCES = Path(__file__).parent / "attacks" / "hand_off"
ATTACKS = {
    "ahead_and_mend.cu": "work before the word lengthens the checker's own, whose length is known",
    "slow_first_call.cu": "no untimed call chooses how many calls are timed",
    "watcher.cu": "work before the word lengthens the checker's own, whose length is known",
    "word_before.cu": "secret lines are read at the word, and the copies follow it",
    "word_by_the_kernel.cu": "secret lines are read at the word, and the copies follow it",
    "word_elsewhere.cu": "secret lines are read at the word, and the copies follow it",
    "word_in_the_middle.cu": "secret lines are read at the word, and the copies follow it",
}
"""The reason why none gains, by file."""
STEPS = (256, 2048, 20480)
"""0.05, 0.3 and 3 ms on an H100."""
DEFINITION = f"""\
import torch
from podium_functions import Array, Case, FunctionProblem, Scalar, Tolerance


class Chain(FunctionProblem):
    arrays = "torch"
    parameters = (
        Array("x", "float32", "in", ("n",)), Array("y", "float32", "out", ("n",)), Scalar("n", "size_t"),
        Scalar("steps", "int32"),
    )
    accuracy = Tolerance(rtol=1e-3, atol=1e-3, reason="a sum that converges")
    cases = tuple(Case(str(steps), n=1 << 22, steps=steps) for steps in {STEPS})

    def inputs(self, case, rng):
        return {{"x": 0.9 * torch.rand(case.n, generator=rng, device=self.device)}}

    def reference(self, case, x):
        wide = x.double()
        return (0.5 * (1 - wide**case.steps) / (1 - wide)).float()
"""
_KERNEL = """\
#include <cstddef>
#include <cuda_runtime.h>
__global__ void chain(const float* x, float* y, size_t n, int steps) {
    const size_t i = blockIdx.x * 256ull + threadIdx.x;
    if (i >= n) return;
    float v = 0;
    for (int step = 0; step < steps; ++step) v = v * x[i] + 0.5f;
    y[i] = v;
}
inline void launch(const float* x, float* y, size_t n, int steps, cudaStream_t stream = 0) {
    chain<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(x, y, n, steps);
}
"""


def _cuda(body: str, before: str = "") -> tuple[str, str]:
    signature = 'extern "C" void solution(const float* x, float* y, size_t n, int steps)'
    return "solution.cu", f"{_KERNEL}{before}{signature} {{\n{body}}}\n"


def _python(body: str, before: str = "") -> tuple[str, str]:
    head = "import torch\n\n\ndef work(x, y, steps):\n    y.copy_(0.5 * (1 - x.double() ** steps) / (1 - x.double()))\n"
    return "solution.py", f"{head}\n\n{before}def solution(x, y, n, steps):\n{body}"


_JOINED = """\
    static cudaStream_t side = nullptr;
    static cudaEvent_t begun, ended;
    if (side == nullptr) {
        cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking);
        cudaEventCreate(&begun);
        cudaEventCreate(&ended);
    }
    cudaEventRecord(begun, 0);
    cudaStreamWaitEvent(side, begun, 0);
    launch(x, y, n, steps, side);
    cudaEventRecord(ended, side);
    cudaStreamWaitEvent(0, ended, 0);
"""
_GRAPH = """\
    static cudaGraphExec_t graph = nullptr;
    static int made = 0;
    if (made != steps) {
        cudaStream_t capturing;
        cudaGraph_t captured;
        cudaStreamCreateWithFlags(&capturing, cudaStreamNonBlocking);
        cudaStreamBeginCapture(capturing, cudaStreamCaptureModeRelaxed);
        launch(x, y, n, steps, capturing);
        cudaStreamEndCapture(capturing, &captured);
        cudaGraphInstantiate(&graph, captured, 0);
        made = steps;
    }
    cudaGraphLaunch(graph, 0);
"""
_COOPERATIVE = """\
    void* arguments[] = {&x, &y, &n, &steps};
    cudaLaunchCooperativeKernel(reinterpret_cast<void*>(rounds), dim3(132), dim3(256), arguments, 0, 0);
"""
_ROUNDS = """\
#include <cooperative_groups.h>
__global__ void rounds(const float* x, float* y, size_t n, int steps) {
    cooperative_groups::this_grid().sync();
    for (size_t i = blockIdx.x * 256ull + threadIdx.x; i < n; i += gridDim.x * 256ull) {
        float v = 0;
        for (int step = 0; step < steps; ++step) v = v * x[i] + 0.5f;
        y[i] = v;
    }
}
"""
_LAZY = """\
    static int calls = 0;
    if (++calls % 7 == 5) other<<<static_cast<unsigned>((n + 255) / 256), 256>>>(x, y, n, steps);
    else launch(x, y, n, steps);
"""
_OTHER = (
    "__global__ void other(const float* x, float* y, size_t n, int steps)"
    + _KERNEL.partition("steps)")[2].partition("inline")[0]
)
ON_DEVICE = {
    "default stream": _cuda("    launch(x, y, n, steps);\n"),
    "own stream, joined": _cuda(_JOINED),
    "graph": _cuda(_GRAPH),
    "cooperative": _cuda(_COOPERATIVE, _ROUNDS),
    "a kernel first used behind the wait": _cuda(_LAZY, _OTHER),
    "forty launches": _cuda(
        "    for (int k = 0; k < 39; ++k) launch(x, y, 256, steps);\n    launch(x, y, n, steps);\n"
    ),
    "memory in the stream's order": _cuda(
        "    float* room;\n    cudaMallocAsync(&room, n * 4, 0);\n    launch(x, room, n, steps);\n"
        "    cudaMemcpyAsync(y, room, n * 4, cudaMemcpyDeviceToDevice, 0);\n    cudaFreeAsync(room, 0);\n"
    ),
    "torch": _python("    work(x, y, steps)\n"),
    "torch, own stream, joined": _python(
        "    side.wait_stream(torch.cuda.current_stream())\n"
        "    with torch.cuda.stream(side):\n        work(x, y, steps)\n"
        "    torch.cuda.current_stream().wait_stream(side)\n",
        "side = torch.cuda.Stream()\n\n\n",
    ),
    "torch, graph": _python(
        "    if steps not in graphs:\n        work(x, y, steps)\n        graphs[steps] = torch.cuda.CUDAGraph()\n"
        "        with torch.cuda.graph(graphs[steps]):\n            work(x, y, steps)\n    graphs[steps].replay()\n",
        "graphs = {}\n\n\n",
    ),
    "triton": ("solution.py", CHAIN.solutions["triton"]),
}
"""Honest solutions that the device times."""
ON_HOST = {
    "waits for the device": _cuda("    launch(x, y, n, steps);\n    cudaDeviceSynchronize();\n"),
    "frees memory": _cuda(
        "    float* room;\n    cudaMalloc(&room, n * 4);\n    launch(x, room, n, steps);\n"
        "    cudaMemcpyAsync(y, room, n * 4, cudaMemcpyDeviceToDevice, 0);\n    cudaFree(room);\n"
    ),
    "reads a value": _cuda(
        "    float first;\n    launch(x, y, n, steps);\n    cudaMemcpy(&first, y, 4, cudaMemcpyDeviceToHost);\n"
        "    if (first < 0) launch(x, y, n, steps);\n"
    ),
    "fills the queue": _cuda("    for (int k = 0; k < 3000; ++k) launch(x, y, 256, 1);\n    launch(x, y, n, steps);\n"),
    "own stream, not joined": _cuda(
        "    static cudaStream_t side = nullptr;\n"
        "    if (side == nullptr) cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking);\n"
        "    launch(x, y, n, steps, side);\n"
    ),
    "torch, reads a value": _python("    work(x, y, steps)\n    assert y[0].item() > 0\n"),
    "torch, waits for the device": _python("    work(x, y, steps)\n    torch.cuda.synchronize()\n"),
}
"""Honest solutions that need the host in the middle of a call, or do not wait for the word."""
DELAYS_US = (20, 60, 100, 140)
"""After which `ahead_and_mend.cu` begins: the checker's own work takes 0.17 ms."""


def attack(file: str, *, honest: bool = False, delay_us: int = 100) -> str:
    """The text of an attack, or of its honest twin."""
    defined = f"#define HONEST {int(honest)}\n#define DELAY_NS {delay_us * 1000}\n"
    return defined + (SOURCES / "words.h").read_text() + (SOURCES / file).read_text()
