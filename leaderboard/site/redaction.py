"""Removes secrets from log lines. Those of PMPP's routes and of feeds stand in addresses, which any line may quote."""

import logging
import re

from runners.wire.log_lines import JsonLines

_IN_ADDRESS = re.compile(r"(compat/pmpp/|feeds/)[^/\s?#\"'<>]+")
_BY_ITSELF = re.compile(r"(?:pmpp|pdmfeed|pdm|pdi|pdt)_[A-Za-z0-9_-]{16,}")
MARK = "[token]"


def redacted(text: str) -> str:
    """The text without tokens, in an address or by themselves."""
    return _BY_ITSELF.sub(MARK, _IN_ADDRESS.sub(rf"\g<1>{MARK}", text))


class RedactingFormatter(logging.Formatter):
    """Redacts whole lines, with their tracebacks."""

    def format(self, record: logging.LogRecord) -> str:
        return redacted(super().format(record))


class RedactingJsonLines(JsonLines):
    """JSON lines without tokens."""

    def format(self, record: logging.LogRecord) -> str:
        return redacted(super().format(record))
