"""Log lines of site and node as JSON objects, with the evaluation and the attempt that a thread works on."""

import json
import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime

VARIABLE = "PODIUM_LOG_FORMAT"
LINE, JSON = "line", "json"
FORMATS = (LINE, JSON)
_about: ContextVar[Mapping[str, object]] = ContextVar("about")


@contextmanager
def lines_about(**names: object) -> Iterator[None]:
    """Lines that this thread logs meanwhile carry these names, and those that `note` adds."""
    token = _about.set({**_about.get({}), **names})
    try:
        yield
    finally:
        _about.reset(token)


def note(**names: object) -> None:
    """Further lines of the innermost `lines_about` carry these names, too."""
    _about.set({**_about.get({}), **names})


class JsonLines(logging.Formatter):
    """One JSON object a line: `at` (UTC), `level`, `logger`, `message`, `exception` with a traceback, and the names
    of `lines_about`."""

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
            **{name: value for name, value in _about.get({}).items() if value is not None},
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str)
