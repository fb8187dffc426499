"""What a node remembers of its GPUs between starts: golden times and peaks, one small file for each GPU."""

import hashlib
import logging
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from pydantic import AwareDatetime, BaseModel, ConfigDict, ValidationError

from runners.protocol import PeaksReport

logger = logging.getLogger(__name__)
KEPT_RUNS = 60
PEAKS_HOLD = timedelta(days=7)


class Run(NamedTuple):
    """The medians of one run of the golden program, in milliseconds."""

    ran_at: AwareDatetime
    compute_ms: float
    copy_ms: float


class Page(BaseModel):
    """All that is remembered of one GPU under one `setting`: with another driver or program its times begin anew."""

    model_config = ConfigDict(frozen=True, allow_inf_nan=False)

    setting: str
    runs: list[Run] = []
    peaks: PeaksReport | None = None

    def with_run(self, run: Run) -> "Page":
        return self.model_copy(update={"runs": [*self.runs, run][-KEPT_RUNS:]})

    @property
    def fresh_peaks(self) -> PeaksReport | None:
        """Those measured within a week."""
        return self.peaks if self.peaks and datetime.now(UTC) - self.peaks.measured_at < PEAKS_HOLD else None


class Ledger:
    """Pages in a folder. One process writes it; a page that cannot be read is begun anew."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder

    def page(self, uuid: str, setting: str) -> Page:
        try:
            page = Page.model_validate_json(self._path(uuid).read_bytes())
        except FileNotFoundError:
            return Page(setting=setting)
        except (OSError, ValidationError) as error:
            logger.warning("what was known of %s cannot be read and is begun anew: %s", uuid, error)
            return Page(setting=setting)
        return page if page.setting == setting else Page(setting=setting)

    def keep(self, uuid: str, page: Page) -> None:
        """Whole or not at all."""
        path = self._path(uuid)
        draft = path.with_suffix(f".{os.getpid()}")
        draft.write_text(page.model_dump_json(), encoding="utf-8")
        draft.replace(path)

    def _path(self, uuid: str) -> Path:
        return self._folder / f"{hashlib.sha256(uuid.encode()).hexdigest()[:24]}.json"
