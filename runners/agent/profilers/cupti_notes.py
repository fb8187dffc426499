"""Reads the notes of one run. libpodium_cupti.so writes one JSON file for each process.

The contestant can write to the folder, so the reader checks each file's kind, size and types. It also checks that the
figures are consistent, which makes a forgery harder but not impossible. The time remains a claim of the contestant's
process, and the judge compares it with measurements from outside.
"""

import os
import re
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from runners.agent.devices import gate

MOST_FILES = 2048
MOST_BYTES = 64 << 20
CLOCK_SLACK_NS = 100_000_000
"""Nanoseconds by which the notes may exceed the command's wall time, which another clock measures."""

_NAME = re.compile(r"(?P<stem>[1-9]\d{0,9}-\d{1,20})\.(?P<kind>json|begun|draft)")

Count = Annotated[int, Field(ge=0, lt=1 << 63)]
Slice = tuple[Count, Count, Count, Count, Count, Count, Count, Count, Count]
"""Index, launches, kernel ns, copies, copy ns, copied bytes, fill ns, launches outside all ranges, their kernel ns."""
OutsideCopies = tuple[Count, Count, Count]
"""Index of the slice, bytes copied from the host, bytes copied to the host."""
UPLOAD, DOWNLOAD = "HtoD", "DtoH"


class DamagedNotes(Exception):
    """The folder does not hold valid notes. The message gives the reason."""


class _Note(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class KernelNote(_Note):
    name: str
    launches: Count
    ns: Count


class PartNote(_Note):
    """Copies by the innermost range that their thread had open at the launch. The name is "" if it had none."""

    name: str
    bytes: Count
    ns: Count


class CopyNote(_Note):
    direction: str
    count: Count
    bytes: Count
    ns: Count
    ranges: list[PartNote]


class RangeNote(_Note):
    """All instances of one range name in one process. `open` lists the intervals in which at least one was open."""

    name: str
    instances: Count
    unclosed: Count
    wall_ns: Count
    launches: Count
    kernel_ns: Count
    copies: Count
    copy_ns: Count
    copied_bytes: Count
    fill_ns: Count
    filled_bytes: Count = 0
    busy_ns: Count
    late_ns: Count
    foreign_launches: Count
    open: list[tuple[Count, Count]]


class TimelineNote(_Note):
    """Work by launch time, in slices of `width_ns` that begin at `origin_ns`. Empty slices are left out.

    `outside_copies` counts copies that were launched while the process had no range open.
    """

    origin_ns: Count
    width_ns: Annotated[int, Field(gt=0, lt=1 << 63)]
    slices: list[Slice]
    outside_copies: list[OutsideCopies] = []


class ProcessNote(_Note):
    """The recording of one process. Times are nanoseconds of CLOCK_MONOTONIC.

    `dropped` counts lost records and ranges. `kernel_calls` counts successful calls that should each make one kernel
    record. `incomplete` counts records without times. Work that still ran when the process ended has no times. If
    kernels run one at a time, the kernels of graphs have none either. `unattributed` counts kernels without a known
    launch.
    """

    schema_version: Annotated[int, Field(alias="schema", ge=1, le=1)]
    pid: Count
    begun_ns: Count
    ended_ns: Count
    final: bool
    contexts: Count
    kernel_calls: Count
    graph_launches: Count = 0
    dropped: Count
    incomplete: Count
    unattributed: Count
    kernels: list[KernelNote]
    copies: list[CopyNote]
    fill_ns: Count
    filled_bytes: Count = 0
    busy_ns: Count
    outside_launches: Count
    outside_ns: Count
    ranges: list[RangeNote]
    timeline: TimelineNote

    @property
    def missing(self) -> int:
        """Number of records that were lost, have no times, or never came although a kernel was launched."""
        return self.dropped + self.incomplete + max(0, self.kernel_calls - self.launches - self.incomplete)

    @property
    def has_untimed_graphs(self) -> bool:
        return self.graph_launches > 0 and self.incomplete > 0

    @property
    def launches(self) -> int:
        return sum(kernel.launches for kernel in self.kernels)

    @property
    def kernel_ns(self) -> int:
        return sum(kernel.ns for kernel in self.kernels)

    @property
    def copy_ns(self) -> int:
        return sum(copy.ns for copy in self.copies)

    @property
    def copied_bytes(self) -> int:
        return sum(copy.bytes for copy in self.copies)

    def bytes_in(self, direction: str) -> int:
        """The bytes of all copies in one direction."""
        return sum(copy.bytes for copy in self.copies if copy.direction == direction)


@dataclass(frozen=True)
class Notes:
    """The notes of one run."""

    processes: tuple[ProcessNote, ...]
    unfinished: int
    """Number of processes that used the device and left no final notes."""
    silent: int
    """Number of these that left no notes at all."""


def read_notes(folder: Path, wall_ms: float) -> Notes | None:
    """Read the notes that a command of `wall_ms` left in `folder`.

    Returns None if the folder has none, or if a process's notes do not fit `ProcessNote`. Raises DamagedNotes for other
    files, and for figures that are not consistent.
    """
    files = _read_files(folder)
    notes = {stem: _parse(data) for (stem, kind), data in files.items() if kind == "json"}
    known = {stem: note for stem, note in notes.items() if note is not None}
    begun = {stem for stem, kind in files if kind == "begun"}
    if len(known) < len(notes) or not (known or begun):
        return None
    _check_together(known, begun, wall_ms)
    finished = {stem for stem, note in known.items() if note.final}
    return Notes(tuple(known.values()), len(begun - finished), len(begun - set(known)))


def _read_files(folder: Path) -> dict[tuple[str, str], bytes]:
    """The files' contents by stem and kind. Raises DamagedNotes."""
    contents: dict[tuple[str, str], bytes] = {}
    left = MOST_BYTES
    directory = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        for name in _names(directory):
            if name == gate.FILE:
                continue
            match = _NAME.fullmatch(name)
            if match is None:
                raise DamagedNotes(f"there is a file {name[:80]!r} that the profiler did not write")
            data = _read_plain(directory, name, left)
            left -= len(data)
            contents[match["stem"], match["kind"]] = data
    finally:
        os.close(directory)
    return contents


def _names(directory: int) -> Iterator[str]:
    with os.scandir(directory) as entries:
        for number, entry in enumerate(entries):
            if number >= MOST_FILES:
                raise DamagedNotes(f"there are more than {MOST_FILES} files")
            yield entry.name


def _read_plain(directory: int, name: str, most_bytes: int) -> bytes:
    """A file's content. Raises DamagedNotes if it is not a regular file with one link, or exceeds `most_bytes`."""
    try:
        file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=directory)
    except OSError as error:
        raise DamagedNotes(f"the file {name} cannot be opened ({error.strerror})") from None
    facts = os.fstat(file)
    if not stat.S_ISREG(facts.st_mode) or facts.st_nlink != 1:
        os.close(file)
        raise DamagedNotes(f"the file {name} is not a regular file with one link")
    with os.fdopen(file, "rb") as stream:
        data = stream.read(most_bytes + 1)
    if len(data) > most_bytes:
        raise DamagedNotes(f"the files hold more than {MOST_BYTES >> 20} MiB")
    return data


def _parse(data: bytes) -> ProcessNote | None:
    try:
        return ProcessNote.model_validate_json(data)
    except (ValidationError, RecursionError):
        return None


def _check_together(notes: dict[str, ProcessNote], begun: set[str], wall_ms: float) -> None:
    """Check file names, marks and the total time. Raises DamagedNotes."""
    for stem, note in notes.items():
        if stem != f"{note.pid}-{note.begun_ns}":
            raise DamagedNotes(f"the file {stem}.json describes another process")
        if note.contexts and stem not in begun:
            raise DamagedNotes(f"process {note.pid} used the device but left no file {stem}.begun")
        _check_sums(note)
    if notes:
        span_ns = max(note.ended_ns for note in notes.values()) - min(note.begun_ns for note in notes.values())
        if span_ns > wall_ms * 1e6 + CLOCK_SLACK_NS:
            raise DamagedNotes("the notes cover more time than the command took")


def _check_sums(note: ProcessNote) -> None:
    """Check the relations that hold between the recorder's own figures. Raises DamagedNotes."""
    lengths = [note.kernel_ns, note.copy_ns, note.fill_ns]
    in_timeline = [sum(piece[column] for piece in note.timeline.slices) for column in (1, 2, 4, 6)]
    kept = (
        note.begun_ns <= note.ended_ns
        and in_timeline == [note.launches, *lengths]
        and note.busy_ns <= sum(lengths)
        and note.outside_launches <= note.launches
        and note.outside_ns <= note.kernel_ns
        and all(_range_keeps(one, note) for one in note.ranges)
        and len({one.name for one in note.ranges}) == len(note.ranges)
        and (note.contexts > 0 or not (note.kernels or note.copies))
        and sum(up for _, up, _ in note.timeline.outside_copies) <= note.bytes_in(UPLOAD)
        and sum(down for *_, down in note.timeline.outside_copies) <= note.bytes_in(DOWNLOAD)
    )
    if not kept:
        raise DamagedNotes(f"the figures of process {note.pid} contradict each other")


def _range_keeps(one: RangeNote, note: ProcessNote) -> bool:
    work_ns = one.kernel_ns + one.copy_ns + one.fill_ns
    return (
        one.launches <= note.launches
        and one.kernel_ns <= note.kernel_ns
        and one.copy_ns <= note.copy_ns
        and one.fill_ns <= note.fill_ns
        and one.filled_bytes <= note.filled_bytes
        and one.late_ns <= one.busy_ns <= work_ns
        and one.foreign_launches <= one.launches
        and _in_order(one.open, note)
    )


def _in_order(intervals: Sequence[tuple[int, int]], note: ProcessNote) -> bool:
    edges = [edge for interval in intervals for edge in interval]
    return edges == sorted(edges) and all(note.begun_ns <= edge <= note.ended_ns for edge in edges)
