"""Makes the solution that shows whether a harness runs in its own process: it ends its process when it is loaded."""

import re

from problems.spec.command.macros import C_SUFFIXES
from problems.spec.solution import FileSolution, SourceFile

_C = """
#ifndef PODIUM_ENDS_EARLY
#define PODIUM_ENDS_EARLY
#include <unistd.h>
__attribute__((constructor)) static void podium_ends_early(void) { _exit(0); }
#endif
"""
_PYTHON = "import os\n\nos._exit(0)\n"
_SHELL = "exit 0\n"
_FUTURE = re.compile(r"^from[ \t]+__future__[ \t]+import[ \t]*(?:\([^)]{0,500}\)|.*)$", re.MULTILINE)
"""Python allows it at the beginning of a file only."""


def ending_early(reference: FileSolution) -> FileSolution:
    """The reference with sources that end their process with status 0 at once.

    A harness in the same process ends with status 0, too. One in a process of its own fails. The sources keep their
    code, because programs must be linked and problems may require names.
    """
    return reference.model_copy(update={"files": [_changed(file) for file in reference.files]})


def _changed(file: SourceFile) -> SourceFile:
    content = file.content
    if file.path.endswith(C_SUFFIXES):
        content += _C
    elif file.path.endswith(".py"):
        content = _PYTHON + _FUTURE.sub("", content)
    elif file.path.endswith(".sh"):
        content = _SHELL + content
    return SourceFile(path=file.path, content=content)
