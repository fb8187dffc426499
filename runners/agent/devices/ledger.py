"""Stores a node's golden times and peaks between starts, in one small file for each GPU."""

import hashlib
import logging
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from pydantic import AwareDatetime, BaseModel, ConfigDict, ValidationError

from runners.agent.ground.atomic import write_atomically
from runners.wire.health import PeaksReport

logger = logging.getLogger(__name__)
KEPT_RUNS = 60
PEAKS_HOLD = timedelta(days=7)


class Run(NamedTuple):
    """The medians of one run of the golden program, in milliseconds."""

    ran_at: AwareDatetime
    compute_ms: float
    copy_ms: float


class Page(BaseModel):
    """The history of one GPU under one `setting`. Another driver or golden program begins a new history."""

    model_config = ConfigDict(frozen=True, allow_inf_nan=False)

    setting: str
    runs: list[Run] = []
    peaks: PeaksReport | None = None

    def with_run(self, run: Run) -> "Page":
        return self.model_copy(update={"runs": [*self.runs, run][-KEPT_RUNS:]})

    @property
    def fresh_peaks(self) -> PeaksReport | None:
        """The peaks if they were measured within a week, else None."""
        return self.peaks if self.peaks and datetime.now(UTC) - self.peaks.measured_at < PEAKS_HOLD else None


class Ledger:
    """Pages in a folder that one process writes. An unreadable page is replaced by an empty one."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder

    def page(self, uuid: str, setting: str) -> Page:
        """The GPU's page. It is empty if there is none, if it cannot be read, or if it has another setting."""
        try:
            page = Page.model_validate_json(self._path(uuid).read_bytes())
        except FileNotFoundError:
            return Page(setting=setting)
        except (OSError, ValidationError) as error:
            logger.warning("the golden times and peaks of %s cannot be read; a new history begins: %s", uuid, error)
            return Page(setting=setting)
        return page if page.setting == setting else Page(setting=setting)

    def keep(self, uuid: str, page: Page) -> None:
        """Store the page. If the disk does not take it, the old one stays."""
        try:
            write_atomically(self._path(uuid), page.model_dump_json().encode())
        except OSError as error:
            logger.warning("the history of %s cannot be stored: %s", uuid, error)

    def _path(self, uuid: str) -> Path:
        return self._folder / f"{hashlib.sha256(uuid.encode()).hexdigest()[:24]}.json"
