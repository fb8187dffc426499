"""Kernels whose times two clocks compare: five problems, each in C++, Triton and torch, with two cases.

`waves` launches more than ten kernels a call, in all three.
"""

from dataclasses import dataclass

N_WAVES = 12
_HEAD = "import torch\nfrom podium_functions import Array, Case, FunctionProblem, Scalar, Tolerance\n\n\n"
_TRITON = "import torch\nimport triton\nimport triton.language as tl\n\n\n"
_CUDA = "#include <cstddef>\n#include <cstdint>\n"
_BLOCKS = "static_cast<unsigned>((n + 255) / 256), 256"
_EACH = "const size_t i = blockIdx.x * 256ull + threadIdx.x;\n    if (i >= n) return;\n"


@dataclass(frozen=True)
class ClockKernel:
    """One problem: its class, and a solution by file name. Its arrays are `x` (in) and `y` (out), float32."""

    name: str
    definition: str
    solutions: dict[str, str]
    cases: tuple[dict[str, int], ...]
    out: str
    """Size of `y` by the scalars' names; `x` has the product of the scalars in `shape`."""
    shape: tuple[str, ...]
    scalars: tuple[tuple[str, str], ...]
    """Names and types."""


def _definition(
    name: str, cases: tuple[dict[str, int], ...], y_shape: str, x_shape: str, scalars: str, reference: str
) -> str:
    listed = "\n        ".join(
        f"Case({'-'.join(map(str, one.values()))!r}, {', '.join(f'{k}={v}' for k, v in one.items())})," for one in cases
    )
    draw = ", ".join(f"case.{axis}" for axis in x_shape.split())
    shapes = [", ".join(f'"{axis}"' for axis in shape.split()) for shape in (x_shape, y_shape)]
    return f"""{_HEAD}class {name.title()}(FunctionProblem):
    arrays = "torch"
    parameters = (
        Array("x", "float32", "in", ({shapes[0]},)), Array("y", "float32", "out", ({shapes[1]},)), {scalars}
    )
    accuracy = Tolerance(rtol=2e-3, atol=1e-7, reason="sums and products of a few thousand positive terms")
    cases = (
        {listed}
    )

    def inputs(self, case, rng):
        return {{"x": 0.9 * torch.rand({draw}, generator=rng, device=self.device)}}

    def reference(self, case, x):
{reference}"""


_CHAIN_CASES = ({"n": 1 << 22, "steps": 400}, {"n": 1 << 22, "steps": 3000})
CHAIN = ClockKernel(
    "chain",
    _definition(
        "chain",
        _CHAIN_CASES,
        "n",
        "n",
        'Scalar("n", "size_t"), Scalar("steps", "int32"),',
        "        wide = x.double()\n        return (0.5 * (1 - wide**case.steps) / (1 - wide)).float()\n",
    ),
    {
        "solution.cu": f"""{_CUDA}__global__ void chain(const float* x, float* y, size_t n, int steps) {{
    {_EACH}    float v = 0;
    for (int step = 0; step < steps; ++step) v = v * x[i] + 0.5f;
    y[i] = v;
}}
extern "C" void solution(const float* x, float* y, size_t n, int steps) {{ chain<<<{_BLOCKS}>>>(x, y, n, steps); }}
""",
        "triton": f"""{_TRITON}@triton.jit
def chain(x, y, n, steps, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    u = tl.load(x + i, mask=i < n)
    v = tl.zeros_like(u)
    for _ in range(steps):
        v = v * u + 0.5
    tl.store(y + i, v, mask=i < n)


def solution(x, y, n, steps):
    chain[(triton.cdiv(n, 1024),)](x, y, n, steps, BLOCK=1024)
""",
        "torch": """import torch


def solution(x, y, n, steps):
    y.copy_(0.5 * (1 - x**steps) / (1 - x))
""",
    },
    _CHAIN_CASES,
    "n",
    ("n",),
    (("n", "size_t"), ("steps", "int32")),
)
_SCALE_CASES = ({"n": 12_000_001}, {"n": 1 << 26})
SCALE = ClockKernel(
    "scale",
    _definition("scale", _SCALE_CASES, "n", "n", 'Scalar("n", "size_t"),', "        return 3 * x + 1\n"),
    {
        "solution.cu": f"""{_CUDA}__global__ void scale(const float* x, float* y, size_t n) {{
    {_EACH}    y[i] = 3 * x[i] + 1;
}}
extern "C" void solution(const float* x, float* y, size_t n) {{ scale<<<{_BLOCKS}>>>(x, y, n); }}
""",
        "triton": f"""{_TRITON}@triton.jit
def scale(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, mask=i < n) * 3 + 1, mask=i < n)


def solution(x, y, n):
    scale[(triton.cdiv(n, 2048),)](x, y, n, BLOCK=2048)
""",
        "torch": "import torch\n\n\ndef solution(x, y, n):\n    torch.mul(x, 3, out=y)\n    y.add_(1)\n",
    },
    _SCALE_CASES,
    "n",
    ("n",),
    (("n", "size_t"),),
)
_ROWS_CASES = ({"rows": 6000, "cols": 1024}, {"rows": 40_000, "cols": 1024})
_ROWS_SCALARS = (("rows", "size_t"), ("cols", "size_t"))
_ROWS_DECLARED = 'Scalar("rows", "size_t"), Scalar("cols", "size_t"),'
SOFTMAX = ClockKernel(
    "softmax",
    _definition(
        "softmax",
        _ROWS_CASES,
        "rows cols",
        "rows cols",
        _ROWS_DECLARED,
        "        return torch.softmax(x.double(), 1).float()\n",
    ),
    {
        "solution.cu": f"""{_CUDA}__global__ void softmax(const float* x, float* y, size_t cols) {{
    __shared__ float sums[256];
    const float* from = x + blockIdx.x * cols;
    float sum = 0;
    for (size_t c = threadIdx.x; c < cols; c += 256) sum += __expf(from[c]);
    sums[threadIdx.x] = sum;
    for (int half = 128; half > 0; half /= 2) {{
        __syncthreads();
        if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    }}
    __syncthreads();
    for (size_t c = threadIdx.x; c < cols; c += 256) y[blockIdx.x * cols + c] = __expf(from[c]) / sums[0];
}}
extern "C" void solution(const float* x, float* y, size_t rows, size_t cols) {{
    softmax<<<static_cast<unsigned>(rows), 256>>>(x, y, cols);
}}
""",
        "triton": f"""{_TRITON}@triton.jit
def softmax(x, y, COLS: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * COLS + tl.arange(0, COLS)
    u = tl.load(x + i)
    e = tl.exp(u - tl.max(u, 0))
    tl.store(y + i, e / tl.sum(e, 0))


def solution(x, y, rows, cols):
    softmax[(rows,)](x, y, COLS=cols)
""",
        "torch": "import torch\n\n\ndef solution(x, y, rows, cols):\n    torch.softmax(x, 1, out=y)\n",
    },
    _ROWS_CASES,
    "rows cols",
    ("rows", "cols"),
    _ROWS_SCALARS,
)
ROW_SUM = ClockKernel(
    "rowsum",
    _definition(
        "rowsum", _ROWS_CASES, "rows", "rows cols", _ROWS_DECLARED, "        return x.double().sum(1).float()\n"
    ),
    {
        "solution.cu": f"""{_CUDA}__global__ void row_sum(const float* x, float* y, size_t cols) {{
    __shared__ float sums[256];
    float sum = 0;
    for (size_t c = threadIdx.x; c < cols; c += 256) sum += x[blockIdx.x * cols + c];
    sums[threadIdx.x] = sum;
    for (int half = 128; half > 0; half /= 2) {{
        __syncthreads();
        if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    }}
    if (threadIdx.x == 0) y[blockIdx.x] = sums[0];
}}
extern "C" void solution(const float* x, float* y, size_t rows, size_t cols) {{
    row_sum<<<static_cast<unsigned>(rows), 256>>>(x, y, cols);
}}
""",
        "triton": f"""{_TRITON}@triton.jit
def row_sum(x, y, COLS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    tl.store(y + row, tl.sum(tl.load(x + row * COLS + tl.arange(0, COLS)), 0))


def solution(x, y, rows, cols):
    row_sum[(rows,)](x, y, COLS=cols)
""",
        "torch": "import torch\n\n\ndef solution(x, y, rows, cols):\n    torch.sum(x, 1, out=y)\n",
    },
    _ROWS_CASES,
    "rows",
    ("rows", "cols"),
    _ROWS_SCALARS,
)
_WAVES_CASES = ({"n": 1 << 20}, {"n": 1 << 23})
WAVES = ClockKernel(
    "waves",
    _definition(
        "waves",
        _WAVES_CASES,
        "n",
        "n",
        'Scalar("n", "size_t"),',
        f"        for _ in range({N_WAVES}):\n            x = 0.9 * x.double() + 0.05\n        return x.float()\n",
    ),
    {
        "solution.cu": f"""{_CUDA}__global__ void wave(const float* x, float* y, size_t n) {{
    {_EACH}    y[i] = 0.9f * x[i] + 0.05f;
}}
extern "C" void solution(const float* x, float* y, size_t n) {{
    for (int k = 0; k < {N_WAVES}; ++k) wave<<<{_BLOCKS}>>>(k == 0 ? x : y, y, n);
}}
""",
        "triton": f"""{_TRITON}@triton.jit
def wave(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, mask=i < n) * 0.9 + 0.05, mask=i < n)


def solution(x, y, n):
    for k in range({N_WAVES}):
        wave[(triton.cdiv(n, 1024),)](x if k == 0 else y, y, n, BLOCK=1024)
""",
        "torch": f"""import torch


def solution(x, y, n):
    torch.mul(x, 0.9, out=y)
    for _ in range({N_WAVES - 1}):
        y.add_(0.05).mul_(0.9)
    y.add_(0.05)
""",
    },
    _WAVES_CASES,
    "n",
    ("n",),
    (("n", "size_t"),),
)
KERNELS = (CHAIN, SCALE, SOFTMAX, ROW_SUM, WAVES)
