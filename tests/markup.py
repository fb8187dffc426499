"""A page's HTML for tests that look for a piece of it, wherever its template breaks its lines."""

import re
from typing import Any

_BLOCKS = (
    "article|body|br|caption|dd|details|div|dl|dt|fieldset|figcaption|figure|footer|form|h[1-6]|head|header|html|"
    "label|legend|li|link|main|meta|nav|noscript|ol|optgroup|option|p|section|select|summary|table|tbody|td|template|th|"
    "thead|title|tr|ul"
)
_VERBATIM = re.compile(r"(<(?:pre|textarea|script|style)\b.*?</(?:pre|textarea|script|style)>)", re.DOTALL)
_BLOCK_TAG = re.compile(rf' ?(</?(?:{_BLOCKS})\b(?:"[^"]*"|[^">])*>) ?')
_END_OF_TAG = re.compile(r'(<(?:"[^"]*"|[^">])*?) (/?>)')


def markup(answer: Any) -> str:
    """The text of a response. In HTML each run of white space is one space, and there is none beside tags of blocks."""
    text = str(answer.content.decode())
    if "text/html" not in answer.headers.get("Content-Type", ""):
        return text
    return "".join(part if n % 2 else _joined(part) for n, part in enumerate(_VERBATIM.split(text)))


def _joined(html: str) -> str:
    return _BLOCK_TAG.sub(r"\1", _END_OF_TAG.sub(r"\1\2", re.sub(r"\s+", " ", html)))
