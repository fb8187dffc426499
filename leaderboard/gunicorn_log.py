"""gunicorn's logs, errors and accesses, without the tokens of PMPP's routes."""

from typing import Any

from gunicorn.glogging import Logger

from leaderboard.site.redaction import RedactingFormatter


class RedactingLogger(Logger):
    """The class for gunicorn's option `--logger-class`."""

    def setup(self, cfg: Any) -> None:
        super().setup(cfg)  # type: ignore[no-untyped-call]
        for log, line in ((self.error_log, self.error_fmt), (self.access_log, self.access_fmt)):
            for handler in log.handlers:
                handler.setFormatter(RedactingFormatter(line, self.datefmt))
