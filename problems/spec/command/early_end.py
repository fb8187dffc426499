"""Makes the solution that shows whether a harness runs in its own process: it ends its process when it is loaded."""

from problems.spec.command.macros import C_SUFFIXES
from problems.spec.solution import FileSolution, SourceFile

_C = """
#ifndef PODIUM_ENDS_EARLY
#define PODIUM_ENDS_EARLY
#include <unistd.h>
__attribute__((constructor)) static void podium_ends_early(void) { _exit(0); }
#endif
"""
"""Added to a source, because the program must still be linked."""
_WHOLE = {".py": "import os\n\nos._exit(0)\n", ".sh": "exit 0\n"}


def ending_early(reference: FileSolution) -> FileSolution:
    """The reference with sources that end their process with status 0 at once.

    A harness in the same process ends with status 0, too. One in a process of its own fails.
    """
    return reference.model_copy(update={"files": [_changed(file) for file in reference.files]})


def _changed(file: SourceFile) -> SourceFile:
    if file.path.endswith(C_SUFFIXES):
        return SourceFile(path=file.path, content=file.content + _C)
    whole = next((text for suffix, text in _WHOLE.items() if file.path.endswith(suffix)), file.content)
    return SourceFile(path=file.path, content=whole)
