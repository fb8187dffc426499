"""Reads a zip of folders: one folder for each problem, in it one for each sample, or the files of a single sample."""

import re
import stat
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

from problems.formats.bounded import MEBIBYTE, UploadLimits, opened
from problems.formats.catalogue import Catalogue
from problems.formats.errors import PackRefused
from problems.formats.incoming import IncomingSample, Notice, SampleJudge
from problems.spec.natural import natural_key
from problems.spec.solution import SourceFile

_END_RECORD = b"PK\x05\x06"
_ZIP64_LOCATOR = b"PK\x06\x07"
_END_RECORD_BYTES = 22
_MAX_COMMENT_BYTES = 65_535
_MAX_DIRECTORY_BYTES = 16 * MEBIBYTE
_NUMBERED = re.compile(r"(?:sample)?[ _-]?\d+", re.IGNORECASE)
_CLUTTER = frozenset({"__MACOSX", ".DS_Store", "Thumbs.db"})
_ENCRYPTED_FLAG = 1


@dataclass(frozen=True)
class _Entry:
    parts: tuple[str, ...]
    content: bytes
    name: str
    """The whole name in the zip; `parts` may be its end only."""


@dataclass(frozen=True)
class ZipSamples:
    """The contents of a zip."""

    samples: tuple[IncomingSample, ...]
    unknown: tuple[Notice, ...]
    notices: tuple[Notice, ...]


def read_solution_zip(source: Path | BinaryIO, catalogue: Catalogue, limits: UploadLimits) -> ZipSamples:
    """Read `<task_id>/<sample>/<files>` or `<task_id>/<files>`; `/` in a task_id may be written `_` or `-`.

    One folder around everything is looked through. Samples are numbered in the natural order of their names.
    Raises PackRefused.
    """
    with _damage_refused(), opened(source) as file:
        entries = _without_wrapper(_read_entries(file, limits), catalogue)
    return _Sorter(catalogue, limits).sort(entries)


def read_members(file: BinaryIO, limits: UploadLimits) -> list[tuple[str, bytes]]:
    """Name and content of each file of a zip, within the limits. Raises PackRefused."""
    with _damage_refused():
        return [(one.name, one.content) for one in _read_entries(file, limits)]


@contextmanager
def _damage_refused() -> Iterator[None]:
    """Raises PackRefused in place of the library's errors."""
    try:
        yield
    except PackRefused:
        raise
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, NotImplementedError) as error:
        raise PackRefused("bad_archive", f"the zip is damaged: {error}") from error


def _read_entries(file: BinaryIO, limits: UploadLimits) -> list[_Entry]:
    _check_end_record(file, limits)
    with zipfile.ZipFile(file) as archive:
        members = archive.infolist()
        _check_names(members)
        infos = [info for info in members if not info.is_dir()]
        _check_infos(infos, limits)
        return [_read_entry(archive, info) for info in infos if _CLUTTER.isdisjoint(info.filename.split("/"))]


def _check_end_record(file: BinaryIO, limits: UploadLimits) -> None:
    """Look at the sizes that the zip states before the library loads its whole directory."""
    size = file.seek(0, 2)
    if size > limits.packed_bytes:
        raise PackRefused("too_large", f"the file is larger than {limits.packed_bytes // MEBIBYTE} MiB")
    file.seek(max(0, size - _END_RECORD_BYTES - _MAX_COMMENT_BYTES))
    tail = file.read()
    at = tail.rfind(_END_RECORD)
    directory_bytes = int.from_bytes(tail[at + 12 : at + 16], "little")
    if at < 0:
        raise PackRefused("bad_archive", "the zip is cut off: its end record is missing")
    if _ZIP64_LOCATOR in tail[max(0, at - 20) : at] or directory_bytes > _MAX_DIRECTORY_BYTES:
        raise PackRefused("too_many_members", "the zip's directory is too large")
    file.seek(0)


def _check_names(members: Sequence[zipfile.ZipInfo]) -> None:
    """Before the library is asked which are folders: it looks at the last character of a name."""
    if not all(info.filename for info in members):
        raise PackRefused("bad_archive", "the zip is damaged: a file in it has no name")


def _check_infos(infos: Sequence[zipfile.ZipInfo], limits: UploadLimits) -> None:
    if len(infos) > limits.members:
        raise PackRefused("too_many_members", f"the zip has more than {limits.members} files")
    for info in infos:
        _check_info(info)
    total_bytes = sum(info.file_size for info in infos)
    if total_bytes > limits.total_bytes:
        raise PackRefused("too_large", f"the zip unpacks to more than {limits.total_bytes // MEBIBYTE} MiB")
    packed_bytes = max(1, sum(info.compress_size for info in infos))
    if total_bytes > limits.ratio_floor_bytes and total_bytes > limits.ratio * packed_bytes:
        raise PackRefused("bomb", f"the zip unpacks to over {limits.ratio} times its size")


def _check_info(info: zipfile.ZipInfo) -> None:
    kind = stat.S_IFMT(info.external_attr >> 16)
    if kind == stat.S_IFLNK:
        raise PackRefused("link", f"the zip holds a link, {info.filename!a}; pack the file itself")
    if kind not in (0, stat.S_IFREG):
        raise PackRefused("special_file", f"the zip holds {info.filename!a}, which is not a plain file")
    if info.flag_bits & _ENCRYPTED_FLAG:
        raise PackRefused("encrypted", f"{info.filename!a} is encrypted; make the zip without a password")
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise PackRefused("bad_archive", f"{info.filename!a} is packed in a way that is not read here; use deflate")


def _read_entry(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> _Entry:
    with archive.open(info) as member:
        content = member.read(info.file_size + 1)
    if len(content) != info.file_size:
        raise PackRefused("bad_archive", f"{info.filename!a} is not as long as the zip says")
    return _Entry(tuple(info.orig_filename.split("/")), content, info.orig_filename)


def _without_wrapper(entries: list[_Entry], catalogue: Catalogue) -> list[_Entry]:
    """Drop one folder that is around everything and is not a problem's."""
    spellings = _folder_spellings(catalogue)
    if len({entry.parts[0] for entry in entries}) != 1 or any(_task_of(entry.parts, spellings) for entry in entries):
        return entries
    if not any(_task_of(entry.parts[1:], spellings) for entry in entries):
        return entries
    return [replace(entry, parts=entry.parts[1:]) for entry in entries if len(entry.parts) > 1]


def _folder_spellings(catalogue: Catalogue) -> dict[str, str]:
    """Folder names to task_ids, without those that two problems would share."""
    found: dict[str, set[str]] = {}
    for task_id in catalogue.problems:
        for name in (task_id, task_id.replace("/", "_"), task_id.replace("/", "-")):
            found.setdefault(name, set()).add(task_id)
    return {name: next(iter(task_ids)) for name, task_ids in found.items() if len(task_ids) == 1}


def _task_of(parts: tuple[str, ...], spellings: dict[str, str]) -> tuple[str, tuple[str, ...]] | None:
    """The problem that a path belongs to, and the rest of the path."""
    for count in range(1, len(parts)):
        task_id = spellings.get("/".join(parts[:count]))
        if task_id is not None:
            return task_id, parts[count:]
    return None


class _Sorter:
    """Sorts entries into problems and samples."""

    def __init__(self, catalogue: Catalogue, limits: UploadLimits) -> None:
        self._catalogue = catalogue
        self._judge = SampleJudge(catalogue, limits)
        self._spellings = _folder_spellings(catalogue)
        self._unknown: dict[str, Notice] = {}
        self._notices: list[Notice] = []

    def sort(self, entries: Sequence[_Entry]) -> ZipSamples:
        by_task: dict[str, list[_Entry]] = {}
        for entry in entries:
            found = _task_of(entry.parts, self._spellings)
            if found is None:
                self._set_aside(entry)
            else:
                by_task.setdefault(found[0], []).append(replace(entry, parts=found[1]))
        ordered = [task_id for task_id in self._catalogue.problems if task_id in by_task]
        samples = [sample for task_id in ordered for sample in self._samples(task_id, by_task[task_id])]
        return ZipSamples(tuple(samples), tuple(self._unknown.values()), tuple(self._notices))

    def _set_aside(self, entry: _Entry) -> None:
        if len(entry.parts) == 1:
            self._notices.append(Notice(f"{entry.parts[0]!a} lies in no problem's folder and is left out."))
            return
        folder = entry.parts[0]
        release = self._catalogue.release_name
        message = f"folder {folder!a} is no problem of release {release}; name folders after its task_ids."
        self._unknown.setdefault(folder, Notice(message))

    def _samples(self, task_id: str, entries: Sequence[_Entry]) -> list[IncomingSample]:
        loose = [entry for entry in entries if len(entry.parts) == 1]
        nested = [entry for entry in entries if len(entry.parts) > 1]
        numbered = bool(nested) and all(_NUMBERED.fullmatch(entry.parts[0]) for entry in nested)
        if loose and not numbered:
            return [self._sample(task_id, entries)]
        self._notices.extend(
            Notice(f"{task_id}/{entry.parts[0]!a} lies in no sample's folder and is left out.") for entry in loose
        )
        by_name: dict[str, list[_Entry]] = {}
        for entry in nested:
            by_name.setdefault(entry.parts[0], []).append(replace(entry, parts=entry.parts[1:]))
        return [
            self._sample(task_id, by_name[name]) for name in sorted(by_name, key=lambda name: (natural_key(name), name))
        ]

    def _sample(self, task_id: str, entries: Sequence[_Entry]) -> IncomingSample:
        ordered = sorted(entries, key=lambda entry: entry.parts)
        try:
            files = [SourceFile(path="/".join(e.parts), content=e.content.decode("utf-8")) for e in ordered]
        except UnicodeDecodeError:
            received = b"\0".join(part for e in ordered for part in ("/".join(e.parts).encode(), e.content))
            return self._judge.of_unreadable(task_id, received, "a file is not UTF-8 text")
        folder = ordered[0].name.removesuffix("/".join(ordered[0].parts)).rstrip("/")
        return replace(self._judge.of_files(task_id, files), folder=folder)
