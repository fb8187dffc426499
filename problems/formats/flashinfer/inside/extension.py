"""Compiles a Solution of FlashInfer Trace's form in C++ or CUDA."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from typing import Any

from .adapter import AdaptedSolution, laid_out


class AdaptedExtension(AdaptedSolution):
    """A solution in C++ or CUDA. Each process compiles it when it loads it.

    `files` are compiled, with `flags` of the compilers and the linker. `binding` is torch, or tvm-ffi of the package
    apache-tvm-ffi.
    """

    def __init__(
        self, sources: dict[str, str], files: tuple[str, ...], name: str, *, binding: str, writes: bool,
        flags: dict[str, list[str]],
    ) -> None:  # fmt: skip
        self.writes = writes
        folder = laid_out(sources)
        options: dict[str, Any] = {**flags, "extra_include_paths": [str(folder)]}
        options["build_directory"] = tempfile.mkdtemp()
        paths = [str(folder / one) for one in files]
        if binding == "torch":
            from torch.utils.cpp_extension import load

            self.function = getattr(load("solution_of_the_set", paths, **options), name)
            return
        import torch
        from tvm_ffi.cpp import load as load_ffi

        if torch.cuda.is_available():  # tvm-ffi asks nvidia-smi, which need not be there
            os.environ.setdefault("TVM_FFI_CUDA_ARCH_LIST", "{}.{}".format(*torch.cuda.get_device_capability()))
        options["cpp_files"] = [one for one in paths if not one.endswith(".cu")]
        options["cuda_files"] = [one for one in paths if one.endswith(".cu")]
        function = getattr(load_ffi("solution_of_the_set", **options), name)

        def returned(*given: Any) -> Any:
            found = function(*given)
            many = found if isinstance(found, Sequence) else [found]
            return [torch.from_dlpack(one) for one in many]

        self.function = function if writes else returned
