"""Has Triton do once what it does before a process's first kernel, without a GPU and without code of a solution.

A process's first kernel takes a second, most of it for the compiler's start and for a library that Triton builds for
itself. A process does this while it waits for a solution. What Triton keeps of it lies in the process's own folder.
"""

import contextlib


def start_triton() -> None:
    """Import Triton, build its library and compile a kernel. What fails here is left to the solution."""
    with contextlib.suppress(Exception):
        import triton
        from triton.backends.compiler import GPUTarget
        from triton.backends.nvidia.driver import CudaUtils
        from triton.compiler import ASTSource

        from .first_kernel import copy

        CudaUtils()
        types = {"source": "*fp32", "target": "*fp32", "size": "constexpr"}
        triton.compile(ASTSource(copy, types, {(2,): 16}), target=GPUTarget("cuda", 80, 32))
