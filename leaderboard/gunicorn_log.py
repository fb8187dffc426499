"""gunicorn's logs, errors and accesses, without the tokens of PMPP's routes."""

from typing import Any

from gunicorn.glogging import Logger

from leaderboard.site import env
from leaderboard.site.redaction import RedactingFormatter, RedactingJsonLines
from runners.wire.log_lines import JSON, LINE, VARIABLE


class RedactingLogger(Logger):
    """The class for gunicorn's option `--logger-class`."""

    def setup(self, cfg: Any) -> None:
        super().setup(cfg)  # type: ignore[no-untyped-call]
        for log, line in ((self.error_log, self.error_fmt), (self.access_log, self.access_fmt)):
            for handler in log.handlers:
                as_json = env.text(VARIABLE, LINE) == JSON
                handler.setFormatter(RedactingJsonLines() if as_json else RedactingFormatter(line, self.datefmt))
