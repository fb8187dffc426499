"""Takes the files out of a model's reply: fenced blocks whose first line is a comment with a path."""

import re

from problems.spec.solution import SourceFile

_FENCED = re.compile(r"```[^`\n]*\n(?P<block>.*?)```", re.DOTALL)
_LINE_COMMENT = re.compile(r"(?://|#|;)\s*(?:file:\s*)?(?P<path>[A-Z0-9._/-]+)\s*", re.IGNORECASE)
_BLOCK_COMMENT = re.compile(r"\s*/\*\s*(?:file:\s*)?(?P<path>.+?)\s*\*/\s*", re.IGNORECASE)


def parse_reply(reply: str) -> list[SourceFile]:
    """The files of a reply, in order and with repeats; a reply without fences is one block.

    The rules are ComputeEval's, quirks included: any one-word comment on a block's first line is taken for a path.
    """
    text = reply.replace("\r\n", "\n").replace("\r", "\n")
    blocks = [match["block"] for match in _FENCED.finditer(text)] or [text]
    return [file for block in blocks if (file := _read_block(block)) is not None]


def _read_block(block: str) -> SourceFile | None:
    first, _, rest = block.lstrip("\n").partition("\n")
    path = _path_in(first.strip("\ufeff").strip())
    return SourceFile(path=path, content=rest) if path else None


def _path_in(line: str) -> str:
    match = _LINE_COMMENT.fullmatch(line) or _BLOCK_COMMENT.fullmatch(line)
    return match["path"].strip() if match else ""
