"""TeX in Markdown: `$…$`, `$$…$$`, `\\(…\\)` and `\\[…\\]` become elements that the browser may set (math.js)."""

from collections.abc import Sequence
from html import escape
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from mdit_py_plugins.dollarmath import dollarmath_plugin

INLINE, DISPLAY = "math_inline", "math_inline_double"
_CLOSING = {"(": ("\\)", INLINE), "[": ("\\]", DISPLAY)}


def add_formulas(markdown: MarkdownIt) -> None:
    """Amounts such as "$5 and $6" stay text: a dollar sign next to a digit or a space outside closes nothing."""
    dollarmath_plugin(markdown, allow_labels=False, allow_space=False, allow_digits=False, double_inline=True)
    markdown.inline.ruler.before("math_inline", "math_over_code", _dollars_before_code)
    markdown.inline.ruler.before("escape", "math_brackets", _in_brackets)
    markdown.block.ruler.before(
        "fence", "math_bracket_block", _block_in_brackets, {"alt": ["paragraph", "reference", "blockquote", "list"]}
    )
    markdown.add_render_rule(INLINE, _inline)
    markdown.add_render_rule(DISPLAY, _display)
    markdown.add_render_rule("math_block", _block)


def _dollars_before_code(state: StateInline, silent: bool) -> bool:
    """Dollar signs are text if a backtick stands between them and the next ones, which may be code."""
    after = state.pos
    while after < state.posMax and state.src[after] == "$":
        after += 1
    if after == state.pos:
        return False
    end = state.src.find("$", after, state.posMax)
    if state.src.find("`", after, end if end >= 0 else state.posMax) < 0:
        return False
    if not silent:
        state.pending += state.src[state.pos : after]
    state.pos = after
    return True


def _in_brackets(state: StateInline, silent: bool) -> bool:
    closing, kind = _CLOSING.get(state.src[state.pos + 1 : state.pos + 2], ("", ""))
    if state.src[state.pos] != "\\" or not closing:
        return False
    end = state.src.find(closing, state.pos + 2, state.posMax)
    if end < 0 or not state.src[state.pos + 2 : end].strip() or "`" in state.src[state.pos : end]:
        return False
    if not silent:
        state.push(kind, "math", 0).content = state.src[state.pos + 2 : end]
    state.pos = end + 2
    return True


def _block_in_brackets(state: StateBlock, line: int, last: int, silent: bool) -> bool:
    """Lines from one that begins with `\\[` to the first that ends with `\\]`.

    No line between is empty or begins another. The latter bounds the work: each line is looked at for one beginning.
    """
    if state.is_code_block(line) or not _text(state, line).startswith("\\["):
        return False
    end = line
    while not _text(state, end).endswith("\\]"):
        end += 1
        if end >= last or state.sCount[end] < state.blkIndent or _text(state, end)[:2] in ("", "\\["):
            return False
    if not silent:
        state.line = end + 1
        text = "\n".join(_text(state, one) for one in range(line, end + 1))
        token = state.push("math_block", "math", 0)
        token.block, token.content, token.map = True, text.removeprefix("\\[").removesuffix("\\]"), [line, end + 1]
    return True


def _text(state: StateBlock, line: int) -> str:
    return state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]].strip()


def _inline(_: Any, tokens: Sequence[Token], place: int, *_rest: Any) -> str:
    return f'<code class="math">\\({escape(tokens[place].content.strip())}\\)</code>'


def _display(_: Any, tokens: Sequence[Token], place: int, *_rest: Any) -> str:
    return f'<code class="math display">\\[{escape(tokens[place].content.strip())}\\]</code>'


def _block(_: Any, tokens: Sequence[Token], place: int, *_rest: Any) -> str:
    return f'<p><code class="math display">\\[{escape(tokens[place].content.strip())}\\]</code></p>\n'
