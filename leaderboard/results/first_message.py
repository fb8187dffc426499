"""The first message of a failure, reduced to what is common: names, paths and numbers become placeholders."""

import re
from collections.abc import Iterator

SEARCHED_CHARACTERS = 16 * 1024
"""Characters of a log that are searched, from its beginning."""
LINE_CHARACTERS = 300
MESSAGE_CHARACTERS = 200

_ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f]+")
_TELLING = re.compile(
    r"\b(?i:error|fatal|failed|failure|mismatch|aborted|undefined reference|undefined symbol|assertion)\b"
    r"|(?:Error|Exception)\b|\bFAIL\b|\bassert\b|(?i:segmentation fault)"
)
_WORDS = ("error", "exception", "fatal", "fail", "mismatch", "abort", "undefined", "assert", "fault", "expected")
_EXTENSIONS = "cuda|cuh|cu|cpp|cxx|cc|hpp|hxx|inl|py|so|sh|ptx|cubin|txt|json|tmp|a|c|h|o"
_REPLACED = (
    (re.compile(r"(?<!\w)(?:'[^']+'|\"[^\"]+\"|`[^`']+['`]|‘[^’]+’|“[^”]+”)(?!\w)"), "<name>"),
    (re.compile(r"(?<![\w.<])(?:\.{0,2}/|[A-Za-z]:\\)[^\s:;,'\"()<>]+"), "<path>"),
    (re.compile(rf"(?<![\w.+/-])[\w.+-]+(?:/[\w.+-]+)*\.(?:{_EXTENSIONS})(?![\w.])"), "<path>"),
    (re.compile(r"\b0[xX][0-9a-fA-F]+\b|\b(?=[a-f]*[0-9])[0-9a-f]{8,}\b"), "<hex>"),
    (re.compile(r"(?<![\w.])[-+]?(?:\d+(?:[.,]\d+)*|\.\d+)(?:[eE][-+]?\d+)?"), "<n>"),
)


def telling_line(log: str) -> str:
    """The first line of a log that speaks of a failure, else its first line that is not blank; "" if there is none."""
    return next(telling_lines(log), "") or first_line(log)


def telling_lines(log: str) -> Iterator[str]:
    """The lines of a log's beginning that speak of a failure."""
    head = log[:SEARCHED_CHARACTERS]
    return filter(_tells, _lines(head)) if _may_tell(head) else iter(())


def first_line(text: str) -> str:
    """The first line that is not blank, as of a result's reason."""
    return next(_lines(text[:SEARCHED_CHARACTERS]), "")


def normalised(line: str) -> str:
    """The line with placeholders: messages of one cause become equal. At most MESSAGE_CHARACTERS."""
    line = _UNPRINTABLE.sub(" ", _plain(line[:LINE_CHARACTERS]))
    for pattern, placeholder in _REPLACED:
        line = pattern.sub(placeholder, line)
    return " ".join(line.split())[:MESSAGE_CHARACTERS]


def _lines(text: str) -> Iterator[str]:
    """Lines that are not blank, each cut at LINE_CHARACTERS."""
    for line in text.splitlines():
        if words := _plain(line).strip():
            yield words[:LINE_CHARACTERS]


def _plain(text: str) -> str:
    """Without a terminal's colours."""
    return _ESCAPE.sub("", text) if "\x1b" in text else text


def _tells(line: str) -> bool:
    return _may_tell(line) and (_TELLING.search(line) is not None or ("expected" in line and " got " in line))


def _may_tell(text: str) -> bool:
    """Whether it holds a word that _TELLING looks for: much faster to ask than the expression."""
    lowered = text.lower()
    return any(word in lowered for word in _WORDS)
