"""The id of a line of a shown file, so that other parts of a page can link to it."""

import re


def anchor(path: str, line: int) -> str:
    """Return the id of line `line` (counted from 1) of the file at `path` in a code listing."""
    return f"{re.sub(r'[^A-Za-z0-9]', '-', path)}-L{line}"
