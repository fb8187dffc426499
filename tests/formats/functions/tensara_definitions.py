"""Definitions in Tensara's two forms, written from its contract."""

TODAY = """\
import torch
from problem import Problem


class shifted_sum(Problem):
    is_exact = False
    parameters = [
        {"name": "a", "type": "float", "pointer": True, "const": True},
        {"name": "kinds", "type": "int", "pointer": True, "const": True},
        {"name": "shift", "type": "float", "pointer": False, "const": False},
        {"name": "total", "type": "float", "pointer": True, "const": False},
        {"name": "signs", "type": "uint8_t", "pointer": True, "const": False},
        {"name": "n", "type": "size_t", "pointer": False, "const": False},
    ]

    def __init__(self):
        super().__init__(name="shifted-sum")

    def reference_solution(self, a, kinds, shift):
        with torch.no_grad(), torch.autocast("cuda", enabled=False):
            return a + shift * kinds, (a > 0).to(torch.uint8)

    def _case(self, n, device="cuda"):
        seed = Problem.get_seed(f"{self.name}_{n}")
        dtype = self.param_dtype("a")

        def fresh():
            return torch.Generator(device="cuda").manual_seed(seed)

        return {
            "name": f"n = {n}", "size": n,
            "create_inputs": lambda: (
                torch.rand(n, device=device, dtype=dtype, generator=fresh()) - 0.5,
                torch.arange(n, device="cuda", dtype=torch.int32),
                0.25,
            ),
        }

    def generate_test_cases(self):
        return [self._case(n) for n in (16, 1000)]

    def generate_sample(self):
        return self._case(4, torch.device("cuda"))

    def verify_result(self, expected, actual):
        close = torch.allclose(expected[0], actual[0], rtol=1e-5) and torch.equal(expected[1], actual[1])
        return close, {} if close else {"message": "the sums are off"}

    def get_flops(self, test_case):
        return 2 * test_case["size"]

    def get_extra_params(self, test_case):
        return [test_case["size"]]
"""

MARCH_2025 = """\
import ctypes
import torch
from problem import Problem


class row_scale(Problem):
    def __init__(self):
        super().__init__(name="row-scale")

    def reference_solution(self, matrix, factors):
        return matrix.cuda() * factors.to("cuda")[:, None]

    def generate_test_cases(self, dtype):
        return [
            {
                "name": f"{rows} x {cols}", "rows": rows, "cols": cols,
                "create_inputs": lambda rows=rows, cols=cols: (
                    torch.rand((rows, cols), device="cuda", dtype=dtype),
                    torch.rand(rows, device="cuda", dtype=dtype),
                ),
            }
            for rows, cols in [(3, 5), (64, 64)]
        ]

    def verify_result(self, expected_output, actual_output, dtype):
        return torch.allclose(expected_output, actual_output.to(dtype)), {}

    def get_function_signature(self):
        return {
            "argtypes": [
                ctypes.POINTER(ctypes.c_float), ctypes.POINTER(ctypes.c_float), ctypes.POINTER(ctypes.c_float),
                ctypes.c_size_t, ctypes.c_size_t,
            ],
            "restype": None,
        }

    def get_flops(self, test_case):
        return test_case["rows"] * test_case["cols"]

    def get_extra_params(self, test_case):
        return [test_case["rows"], test_case["cols"]]
"""
