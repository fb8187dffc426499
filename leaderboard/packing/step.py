"""One turn of the site's worker: it packs the next upload, if one waits."""

import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from threading import Event
from typing import Any

from django.conf import settings

from leaderboard import blobs
from leaderboard.actions.problems import pack_uploads
from leaderboard.models import Packing
from leaderboard.packing.process import Stopped, run_podium
from problems.formats.folder_archive import folder_name
from problems.formats.packing_events import Begun, Done, Failed, Note, SetRow
from problems.formats.packing_events import Event as Told

BEAT_SECONDS = 2.0
ENDING = Event()
"""Set when the worker is asked to end: it does not wait for a packing."""
_GONE = "The uploaded file is here no more. Upload it again."


def pack_next() -> bool:
    """Whether there was one. A worker that is killed meanwhile leaves it to the sweep."""
    held = pack_uploads.take()
    if held is None:
        return False
    with tempfile.TemporaryDirectory(prefix="podium-packing-", ignore_cleanup_errors=True) as name:
        try:
            _pack(_Progress(held), Path(name))
        except Stopped:
            pack_uploads.give_back(held)  # nothing, where somebody removed it or the sweep gave it to another
        except blobs.BlobMissing:
            pack_uploads.fail(held, Failed(code="file_gone", faults=[_GONE]))
    return True


class _Progress:
    """Stores how far a packing is, not at every event."""

    def __init__(self, held: Packing) -> None:
        self.held = held
        self.notes: list[str] = []
        self.report: list[dict[str, Any]] = []
        self._next_beat = 0.0

    def go_on(self, events: Sequence[Told]) -> bool:
        for one in events:
            if isinstance(one, Note):
                self.notes.append(one.words.replace("\0", ""))
            if isinstance(one, SetRow):
                words = {"words": one.words.replace("\0", ""), "remedy": one.remedy.replace("\0", "")}
                said = one.model_copy(update=words | {"source": one.source.replace("\0", "")})
                self.report.append(said.model_dump(exclude={"at"}))
            if isinstance(one, Begun):
                self.held.n_begun, self.held.n_problems = one.number, one.n_problems
                self.held.at = one.name.replace("\0", "")[:200]
        if ENDING.is_set():
            return False
        if time.monotonic() < self._next_beat:
            return True
        self._next_beat = time.monotonic() + BEAT_SECONDS
        return pack_uploads.beat(self.held)


def _pack(progress: _Progress, folder: Path) -> None:
    held, pack = progress.held, folder / "pack.tar.gz"
    folder.chmod(0o711)  # a sandbox's user reaches its own folder in it, and lists nothing
    (folder / "upload").mkdir()
    archive = folder / "upload" / folder_name(held.name)
    with blobs.uploads().open(held.archive_sha256) as file:
        archive.write_bytes(file.read())
    ended = run_podium(
        [
            "pack", str(archive), "--as", held.kind, "--out", str(pack), "--release", held.release,
            "--seconds", str(settings.PACKING_SECONDS + 60), "--memory-mib", str(settings.PACKING_MEMORY_MIB),
            "--problem-seconds", str(settings.PACKING_PROBLEM_SECONDS), "--device", held.device,
        ],
        folder, settings.PACKING_SECONDS, progress.go_on,
    )  # fmt: skip
    if isinstance(ended, Done):
        pack_uploads.finish(held, pack.read_bytes(), ended.n_problems, progress.notes, progress.report)
    else:
        pack_uploads.fail(held, ended, progress.report)
