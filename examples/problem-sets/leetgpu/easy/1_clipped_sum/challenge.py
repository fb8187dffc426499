import ctypes

import torch
from core.challenge_base import ChallengeBase


class Challenge(ChallengeBase):
    name = "Clipped sum"
    atol = 1e-5
    rtol = 1e-5
    num_gpus = 1
    access_tier = "free"

    def reference_impl(self, a, b, total, limit, n):
        torch.clamp(a + b, -limit, limit, out=total)

    def get_solve_signature(self):
        pointer = ctypes.POINTER(ctypes.c_float)
        return {
            "a": (pointer, "in"),
            "b": (pointer, "in"),
            "total": (pointer, "out"),
            "limit": (ctypes.c_float, "in"),
            "n": (ctypes.c_size_t, "in"),
        }

    def _test(self, n, limit):
        a = torch.empty(n, device=self.device).uniform_(-2.0, 2.0)
        b = torch.empty(n, device=self.device).uniform_(-2.0, 2.0)
        return {"a": a, "b": b, "total": torch.zeros(n, device=self.device), "limit": limit, "n": n}

    def generate_example_test(self):
        return self._test(4, 1.0)

    def generate_functional_test(self):
        fixed = self._test(3, 0.5)
        fixed["a"] = torch.tensor([1.0, -1.0, 0.25], device=self.device)
        fixed["b"] = torch.tensor([1.0, -1.0, 0.0], device=self.device)
        return [fixed, self._test(33, 0.75), self._test(1000, 1.5)]

    def generate_performance_test(self):
        return self._test(200_000, 1.0)
