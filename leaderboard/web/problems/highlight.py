"""Code as HTML: coloured by Pygments in classes (static/podium/code.css), with a line's number and anchor.

An anchor is `PATH-LN`, as in `solution.cu-L17`: the file's path with its spaces as `_`, and the line's number from 1.
A page has each path's anchors once at most, so that `<address of the page>#solution.cu-L17` names one line.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from io import StringIO
from time import monotonic
from typing import Any
from urllib.parse import quote

from django.utils.html import escape, format_html
from django.utils.safestring import SafeString, mark_safe
from pygments.formatters.html import HtmlFormatter
from pygments.lexer import Lexer, include
from pygments.lexers.c_like import CudaLexer
from pygments.lexers.data import JsonLexer
from pygments.lexers.python import PythonLexer
from pygments.token import Error, Keyword, Name, Operator, Punctuation, Text, Whitespace

from leaderboard.submissions.side_by_side import FilePair

MAX_CHARACTERS = 64 * 1024
"""Limit of a text that is coloured; a longer one is shown plain."""
PAGE_CHARACTERS = 2 * MAX_CHARACTERS
"""Limit of all coloured files of a page; those that come later are plain."""
PAGE_LINES = 10_000
"""Limit of numbered lines in all files of a page."""
MAX_SECONDS = 0.25
"""For colouring a text; what is left then stays plain."""
_CACHED_TEXTS = 128
_BLANKS = re.compile(r"\s")
_PLAIN = frozenset({Whitespace, Name, Punctuation, Operator, Error})
"""Tokens without a colour of their own, which need no element."""
_CUDA_WORDS = (
    r"(__(global|device|host|shared|constant|managed|restrict|launch_bounds|forceinline|noinline|grid_constant)__"
    r"|dim3|(thread|block)Idx|(block|grid)Dim|warpSize|__sync(threads|warp)\w*|__threadfence\w*|__shfl\w*)\b"
)


class _CodeLexer(CudaLexer):
    """CUDA and C++ without Pygments' patterns of whole functions, which take quadratic time on hostile text."""

    tokens = {
        "root": [
            include("whitespace"),
            (_CUDA_WORDS, Keyword.Pseudo),
            include("keywords"),
            include("types"),
            (r"[A-Za-z_]\w*(?=\()", Name.Function),
            include("statements"),
            (r"[{};]", Punctuation),
        ],
    }


_C_ENDINGS = ("c", "cc", "cpp", "cu", "cuh", "cxx", "h", "hpp")
_LEXERS: dict[str, type[Lexer]] = (
    dict.fromkeys((*_C_ENDINGS, "c++", "cuda"), _CodeLexer)
    | dict.fromkeys(("py", "python", "triton"), PythonLexer)
    | {"json": JsonLexer}
)
"""Lexers by a path's ending, or by the language that a statement's block of code names."""


def anchor(path: str, line: int) -> str:
    """The id of a line of a shown file."""
    return f"{_BLANKS.sub('_', path)}-L{line}"


def ending_of(path: str) -> str:
    """The ending of a path, which tells its language: `cu` of `src/kernel.cu`; "" without an ending."""
    return path.rpartition("/")[2].rpartition(".")[2].lower() if "." in path else ""


class Budget:
    """The page's budget of coloured and numbered text, so that a page of many files costs no more than one of few."""

    def __init__(self) -> None:
        self._left = PAGE_CHARACTERS
        self._lines_left = PAGE_LINES
        self._anchored: set[str] = set()

    def numbers(self, n_lines: int) -> bool:
        """Whether a file of so many lines gets numbers and anchors."""
        self._lines_left -= n_lines
        return self._lines_left >= 0

    def anchors(self, path: str) -> bool:
        """Whether the file gets anchors: the first of its path does."""
        is_first = anchor(path, 1) not in self._anchored
        self._anchored.add(anchor(path, 1))
        return is_first

    def language_of(self, path: str, text: str) -> str:
        """The language that the file is coloured in; "" if it is not coloured, or the page has had enough."""
        language = ending_of(path)
        if language not in _LEXERS or len(text) > min(self._left, MAX_CHARACTERS):
            return ""
        self._left -= len(text)
        return language


def source(path: str, text: str, budget: Budget, *, anchored: bool = True) -> SafeString:
    """The whole file as a `<pre>` with numbered lines; its lines have anchors if `anchored`."""
    shown = lines_of(budget.language_of(path, text), text.removesuffix("\n"))
    anchored = anchored and budget.anchors(path)
    if budget.numbers(len(shown)):
        shown = [_line(path, number, html, anchored=anchored) for number, html in enumerate(shown, 1)]
    text = "\n".join(shown)
    return mark_safe(f'<pre class="source" tabindex="0"><code>{text}</code></pre>')  # noqa: S308 - escaped below


def _line(path: str, number: int, html: str, *, anchored: bool) -> str:
    if not anchored:
        return f'<span class="line"><i data-line="{number}"></i>{html}</span>'
    name = anchor(path, number)
    link = f'<a href="#{quote(name)}" data-line="{number}" tabindex="-1" aria-hidden="true"></a>'
    return f'<span class="line" id="{escape(name)}">{link}{html}</span>'


def code(text: str, language: str) -> SafeString:
    """A short piece of code, without numbers."""
    html = "\n".join(lines_of(language.strip().lower(), text))
    return format_html('<pre class="source" tabindex="0"><code>{}</code></pre>\n', mark_safe(html))  # noqa: S308 - escaped below


def lines_of(language: str, text: str) -> Sequence[str]:
    """The lines as HTML, each complete by itself."""
    normal = text.replace("\r\n", "\n").replace("\r", "\n")
    if language not in _LEXERS or len(normal) > MAX_CHARACTERS:
        return [escape(line) for line in normal.split("\n")]
    return _coloured(_LEXERS[language], normal)


@lru_cache(maxsize=_CACHED_TEXTS)
def _coloured(lexer: type[Lexer], text: str) -> Sequence[str]:
    tokens = list(_tokens(lexer, text))
    if "".join(value for _, value in tokens) != text:  # the lexer lost a part
        return [escape(line) for line in text.split("\n")]
    written = StringIO()
    HtmlFormatter(nowrap=True).format(tokens, written)  # type: ignore[no-untyped-call]
    n_lines = text.count("\n") + 1
    lines = written.getvalue().split("\n")  # the formatter ends the last line, whether the text does or not
    return tuple((lines + [""] * n_lines)[:n_lines])


def _tokens(lexer: type[Lexer], text: str) -> Iterator[tuple[Any, str]]:
    ends = monotonic() + MAX_SECONDS
    at = 0
    for index, token, value in lexer().get_tokens_unprocessed(text):  # type: ignore[no-untyped-call]
        yield Text if token in _PLAIN else token, value
        at = index + len(value)
        if monotonic() > ends:
            break
    yield Text, text[at:]


@dataclass(frozen=True)
class ColouredRow:
    """A `LinePair` whose lines are HTML."""

    kind: str
    left_number: int | None
    left: SafeString
    right_number: int | None
    right: SafeString


def coloured(pair: FilePair, budget: Budget) -> list[ColouredRow]:
    """The rows of two files side by side, coloured."""
    left = _side(pair.left_path, [row.left for row in pair.rows if row.left_number is not None], budget)
    right = _side(pair.right_path, [row.right for row in pair.rows if row.right_number is not None], budget)
    return [
        ColouredRow(row.kind, row.left_number, left(row.left_number), row.right_number, right(row.right_number))
        for row in pair.rows
    ]


def _side(path: str, lines: Sequence[str], budget: Budget) -> Callable[[int | None], SafeString]:
    """The HTML of a line by its number; the lines are numbered from 1 without gaps."""
    text = "\n".join(lines)
    html = lines_of(budget.language_of(path, text), text)
    if len(html) != len(lines):  # a line holds a carriage return
        html = [escape(line) for line in lines]
    return lambda number: mark_safe(html[number - 1] if number else "")  # noqa: S308 - escaped above
