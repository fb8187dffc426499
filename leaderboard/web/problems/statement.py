"""A problem's statement: Markdown in, safe HTML out."""

from collections.abc import Sequence
from typing import Any

import nh3
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.token import Token

from leaderboard.web.problems.formulas import add_formulas
from leaderboard.web.problems.highlight import code


def _code_block(_: Any, tokens: Sequence[Token], place: int, *_rest: Any) -> str:
    return code(tokens[place].content.removesuffix("\n"), tokens[place].info)


_markdown = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
_markdown.add_render_rule("fence", _code_block)
_markdown.add_render_rule("code_block", _code_block)
_markdown.add_render_rule("table_open", lambda *_: '<div class="scroll" tabindex="0"><table>\n')
_markdown.add_render_rule("table_close", lambda *_: "</table></div>\n")
add_formulas(_markdown)
_TAGS = {
    "a", "blockquote", "br", "code", "dd", "del", "div", "dl", "dt", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr",
    "li", "ol", "p", "pre", "s", "span", "strong", "sub", "sup", "table", "tbody", "td", "th", "thead", "tr", "ul",
}  # fmt: skip
_ATTRIBUTES = {
    "a": {"href", "title"},
    "code": {"class"},
    "div": {"class", "tabindex"},
    "pre": {"class", "tabindex"},
    "span": {"class"},
}
"""Classes are the site's own, of coloured code, formulas and tables: raw HTML never gets so far."""


def as_html(text: str) -> SafeString:
    """Raw HTML is shown as text, whatever is left is cleaned to a list of tags; headings start below the page's own."""
    html = _markdown.render(text).replace("<th></th>", "<td></td>")  # a header without words names nothing
    for level in (4, 3, 2, 1):
        html = html.replace(f"<h{level}>", f"<h{level + 2}>").replace(f"</h{level}>", f"</h{level + 2}>")
    clean = nh3.clean(html, tags=_TAGS, attributes=_ATTRIBUTES, url_schemes={"http", "https", "mailto"})
    return mark_safe(clean)  # noqa: S308 - nh3 has just cleaned it
