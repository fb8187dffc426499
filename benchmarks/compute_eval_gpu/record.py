"""What has been measured in a folder so far, so that parts may be run one after the other by several commands."""

import json
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from benchmarks.compute_eval_gpu.refused import Refused
from runners.agent.remembered import HOLDS

PARTS = ("cold", "warm", "rival", "again", "serial")
"""In the order in which they run. `again` is `warm` once more, on ComputeEval's other side: what a rented machine's
processors do in a second changes by a third within minutes.
"""
WARM = ("warm", "again")
BUILT_ON = {"cold": (*WARM, "serial"), "warm": (), "rival": (), "again": (), "serial": ()}
"""Parts that go on from one, and that are no longer its own once it is measured again."""
LATEST = HOLDS - timedelta(minutes=10)
"""After the beginning of part cold: a second run that begins later may have to time the baselines anew."""
NAME = "parts.json"


@dataclass(frozen=True)
class Settings:
    """What is measured; one folder holds one such measure."""

    release: str
    problems: int
    seed: int
    profile: str


@dataclass(frozen=True)
class Part:
    """`ended` is false where a time limit ended it after `seconds`.

    `cpu_seconds`: processor time of all that was run, builds and samples too; None where that is not known.
    """

    seconds: float
    ended: bool
    commit: str
    finished_at: str
    notices: tuple[str, ...] = ()
    cpu_seconds: float | None = None


@dataclass
class Record:
    folder: Path
    settings: Settings
    parts: dict[str, Part] = field(default_factory=dict)

    @classmethod
    def open(cls, folder: Path, settings: Settings) -> "Record":
        """The folder's, or a new one where it is empty or missing. Raises Refused."""
        path = folder / NAME
        if path.is_file():
            known = json.loads(path.read_text(encoding="utf-8"))
            if known["settings"] != asdict(settings):
                raise Refused(f"{folder} holds a measure with other settings ({_words(known['settings'])}).")
            return cls(folder, settings, {name: _part(one) for name, one in known["parts"].items()})
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise Refused(f"{folder} is neither empty nor the folder of an earlier measure: name a new one.")
        folder.mkdir(parents=True, exist_ok=True)
        found = cls(folder, settings)
        found._save()
        return found

    def check(self, wanted: tuple[str, ...]) -> None:
        """Raises Refused where a part goes on from one that is neither there nor wanted."""
        for part in wanted:
            if part in BUILT_ON["cold"] and "cold" not in {*self.parts, *wanted}:
                raise Refused(f"Part {part} goes on from part cold, which was not run in {self.folder}.")

    def why_too_late(self, name: str, now: datetime) -> str:
        """Why the part, begun now, would not measure what it is to measure; or ""."""
        cold = self.parts.get("cold")
        if name not in WARM or cold is None or self.settings.profile == "none":
            return ""
        age = now - datetime.fromisoformat(cold.finished_at) + timedelta(seconds=cold.seconds)
        if age <= LATEST:
            return ""
        began, latest, holds = (f"{one / timedelta(minutes=1):.0f}" for one in (age, LATEST, HOLDS))
        return (
            f"{name}: not run. Part cold began {began} minutes ago; a second run must begin within {latest}, for after"
            f" {holds} Podium times baselines anew. Run it sooner after --parts cold (which forgets what went on from"
            " the old one), or with fewer problems."
        )

    def begin(self, name: str) -> list[str]:
        """Forget the part and what went on from it; returns those whose rows are of no more use.

        Part serial, which nobody times as a whole, keeps the rows of a run that was cut off.
        """
        gone = [name, *BUILT_ON[name]] if name != "serial" or name in self.parts else []
        for one in gone:
            self.parts.pop(one, None)
        self._save()
        return gone

    def end(self, name: str, part: Part) -> None:
        self.parts[name] = part
        self._save()

    def _save(self) -> None:
        """Whole or not at all: whoever measures may interrupt at any time."""
        parts = {name: asdict(part) for name, part in self.parts.items()}
        text = json.dumps({"settings": asdict(self.settings), "parts": parts}, indent=2)
        draft = self.folder / f".{NAME}"
        draft.write_text(text + "\n", encoding="utf-8")
        draft.replace(self.folder / NAME)


def _part(known: dict[str, Any]) -> Part:
    return Part(**(known | {"notices": tuple(known["notices"])}))


def _words(settings: dict[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in settings.items())
