"""Runs a definition's reference as if it were a solution: it writes into the outputs that it is given."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from .errors import DefinitionError
from .loaded import Loaded, load


class Reference:
    """Callable like `solution`. The definition is executed when this is made; raises DefinitionError.

    With `is_compiled` torch.compile compiles it once for each shape.
    """

    def __init__(self, definition: str, device: str = "cpu", *, is_compiled: bool = False) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "def.py")
            path.write_text(definition, encoding="utf-8")
            self._loaded: Loaded = load(str(path), device)
        if is_compiled:
            self._loaded.form.compile()

    def __call__(self, *arguments: Any) -> None:
        """Compute from the inputs and fill the outputs. Arguments are in the parameters' order."""
        parameters = self._loaded.parameters
        if len(arguments) != len(parameters):
            words = f"is called with {len(arguments)} arguments"
            raise DefinitionError("def.py", 0, words, f"give {len(parameters)}")
        expected = self._loaded.form.answer(list(arguments))
        outputs = [value for one, value in zip(parameters, arguments) if one.is_written]
        for output, value in zip(outputs, expected):
            self._loaded.library.fill(output, value)
