"""Reads an uploaded problem set of another platform: a row of the report for each problem, and the pack."""

from collections.abc import Callable
from pathlib import Path
from typing import Literal

from podium.problems.importing import pack_of
from podium.problems.readers import SetFormat, read_set
from podium.problems.sandboxed import CallBounds
from problems.formats.compute_eval.packs import ProblemPack
from problems.formats.errors import PackRefused
from problems.formats.packing_events import Event, Note, SetRow, cut
from problems.formats.problem_sets import ProblemRead, SetRead
from runners.agent import capabilities
from runners.agent.sandbox import Sandbox

MOST_ROWS = 2000


def pack_set(
    form: SetFormat, root: Path, release: str, device: Literal["gpu", "cpu"], box: Sandbox, bounds: CallBounds,
    tell: Callable[[Event], None],
) -> ProblemPack:  # fmt: skip
    """The pack of the set's problems that can be read. Tells the report first. Raises PackRefused if none can."""
    read = read_set(form, root, device, box, bounds)
    if len(read.problems) > MOST_ROWS:
        words = f"The set has {len(read.problems)} problems; {MOST_ROWS} are read at once. Upload it in parts."
        raise PackRefused("too_many_problems", words)
    needs_gpu = device == "gpu" and read.readable
    uuids = tuple(gpu.uuid for gpu in capabilities.gpus_by_nvidia_smi())[:1] if needs_gpu else ()
    try:
        read, pack = pack_of(read, release, box, uuids, bounds)
    except PackRefused as refused:
        _report(read, root, tell)
        raise PackRefused(refused.code, f"No pack could be made: {refused.message}") from refused
    _report(read, root, tell)
    if pack is None:
        raise PackRefused("no_problems", "No problem of the set could be read. The report says why.")
    return pack


def _report(read: SetRead, root: Path, tell: Callable[[Event], None]) -> None:
    for one in read.problems:
        tell(_row(one, root))
    if read.terms:
        tell(Note(words=cut(read.terms)))


def _row(one: ProblemRead, root: Path) -> SetRow:
    """Names files as the archive does."""
    words = (one.refused or "; ".join(one.notes)).replace(f"{root}/", "").replace(str(root), "the archive")
    return SetRow(source=cut(one.source), state=one.state, line=one.line, words=cut(words), remedy=cut(one.remedy))
