"""Takes the files out of a model's reply: fenced blocks whose first line is a comment with a path."""

import re

from problems.spec.solution import SourceFile

_FENCED = re.compile(r"```[^`\n]*\n(?P<block>.*?)```", re.DOTALL)
_LINE_COMMENT = re.compile(r"(?://|#|;)\s*(?:file:\s*)?(?P<path>[A-Z0-9._/-]+)\s*", re.IGNORECASE)


def parse_reply(reply: str) -> list[SourceFile]:
    """The files of a reply, in order and with repeats; a reply without fences is one block.

    The rules are ComputeEval's, quirks included: any one-word comment on a block's first line is taken for a path.
    """
    text = reply.replace("\r\n", "\n").replace("\r", "\n")
    blocks = [match["block"] for match in _FENCED.finditer(text)] or [text]
    return [file for block in blocks if (file := read_block(block)) is not None]


def read_block(block: str) -> SourceFile | None:
    """The file that a block's first line names, or None."""
    first, _, rest = block.lstrip("\n").partition("\n")
    path = _path_in(first.strip("\ufeff").strip())
    return SourceFile(path=path, content=rest) if path else None


def _path_in(line: str) -> str:
    match = _LINE_COMMENT.fullmatch(line)
    return match["path"].strip() if match else _in_block_comment(line)


def _in_block_comment(line: str) -> str:
    """The words of `/* file: … */`, which is the whole line."""
    if len(line) < len("/**/") or not (line.startswith("/*") and line.endswith("*/")):
        return ""
    words = line[2:-2].lstrip()
    is_named = words[:5].lower() == "file:" and len(words) > len("file:")
    return (words[5:] if is_named else words).strip()
