"""Calls a Solution of FlashInfer Trace's form: imports its sources, and passes the outputs."""

from __future__ import annotations

import importlib.util
import sys
import tempfile
from pathlib import Path
from typing import Any


def laid_out(sources: dict[str, str]) -> Path:
    """A new folder with these files."""
    folder = Path(tempfile.mkdtemp())
    for where, content in sources.items():
        (folder / where).parent.mkdir(parents=True, exist_ok=True)
        (folder / where).write_text(content, encoding="utf-8")
    return folder


class AdaptedSolution:
    """A solution whose entry point is a Python function.

    With `writes`, it takes the outputs behind the inputs. Otherwise it returns them, and they are copied.
    """

    def __init__(self, sources: dict[str, str], path: str, name: str, *, writes: bool) -> None:
        self.writes = writes
        folder = laid_out(sources)
        sys.path.insert(0, str(folder))
        spec: Any = importlib.util.spec_from_file_location("solution_of_the_set", folder / path)
        module = importlib.util.module_from_spec(spec)
        sys.modules["solution_of_the_set"] = module
        spec.loader.exec_module(module)
        self.function = getattr(module, name)

    def call(self, inputs: tuple[Any, ...], outputs: dict[str, Any]) -> None:
        """Compute into the outputs."""
        if self.writes:
            self.function(*inputs, *outputs.values())
            return
        found = self.function(*inputs)
        if isinstance(found, dict):
            found = [found[name] for name in outputs]
        results = list(found) if isinstance(found, (tuple, list)) else [found]
        if len(results) != len(outputs):
            raise ValueError(f"the entry point returns {len(results)} values; the definition has {len(outputs)}")
        for result, output in zip(results, outputs.values()):
            output.copy_(result)
