import ctypes

import torch
from core.challenge_base import ChallengeBase, RandIntTensor


class Challenge(ChallengeBase):
    name = "Shift in place"
    atol = 0.0
    rtol = 0.0
    num_gpus = 1
    access_tier = "free"

    def reference_impl(self, values, shifts, rows, cols):
        values += shifts[:, None]

    def get_solve_signature(self):
        pointer = ctypes.POINTER(ctypes.c_int)
        return {
            "values": (pointer, "inout"),
            "shifts": (pointer, "in"),
            "rows": (ctypes.c_int, "in"),
            "cols": (ctypes.c_int, "in"),
        }

    def _test(self, rows, cols):
        return {
            "values": RandIntTensor((rows, cols), low=-1000, high=1000),
            "shifts": RandIntTensor((rows,), low=1, high=100),
            "rows": rows,
            "cols": cols,
        }

    def generate_example_test(self):
        return self._test(2, 3)

    def generate_functional_test(self):
        return [self._test(5, 7), self._test(64, 33)]

    def generate_performance_test(self):
        return self._test(400, 500)
