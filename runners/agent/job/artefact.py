"""The product of a build: one tar of the files that it added to a workspace or changed there."""

import io
import os
import posixpath
import stat
import tarfile
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

EMPTY = b""
"""The product of a build that added and changed nothing."""


MAX_PATH_BYTES = 1024
"""Maximum length of a path in the workspace. Longer ones are refused because walking them can fail."""
_RECORD = "."
"""Name of the first member, which only carries the header _GONE: paths of inputs that the build removed."""
_GONE = "PODIUM.gone"
_STEP_NS = 1000
"""Time between two files of a restored product."""
_MOST_RANKS = 1_000_000


class ProductTooLarge(Exception):
    """The build left more data than may be kept. The message states the limit."""


def collect(workspace: Path, inputs: Mapping[str, bytes], limit_bytes: int) -> bytes:
    """A tar of all files that differ from `inputs`, with the paths of inputs that are gone, and without owners.

    Times are ranks: they keep the order in which files were written. Sockets are dropped. Raises ProductTooLarge.
    """
    found = dict(_walk(workspace))
    kept = [path for path, facts in sorted(found.items()) if _is_product(workspace, path, facts, inputs)]
    gone = _gone(found, inputs)
    if not (kept or gone):
        return EMPTY
    ranks = {time: rank for rank, time in enumerate(sorted({found[path].st_mtime_ns for path in kept}))}
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as tar:
        tar.addfile(_record_of(gone))
        for path in kept:
            facts = found[path]
            if buffer.tell() + _added_bytes(facts) > limit_bytes:  # sparse files may exceed the disk
                raise ProductTooLarge(f"the build left more than {limit_bytes >> 20} MiB behind")
            _add(tar, workspace, path, facts, ranks[facts.st_mtime_ns])
    if buffer.tell() > limit_bytes:
        raise ProductTooLarge(f"the build left more than {limit_bytes >> 20} MiB behind")
    return buffer.getvalue()


def _gone(found: Mapping[str, os.stat_result], inputs: Mapping[str, bytes]) -> list[str]:
    """Inputs that the build removed or replaced by something else than a file, then their folders, the inner first."""
    files = [path for path in inputs if path not in found or not stat.S_ISREG(found[path].st_mode)]
    folders = {"/".join(parts[:n]) for parts in (path.split("/") for path in files) for n in range(1, len(parts))}
    lost = [path for path in folders if path not in found or not stat.S_ISDIR(found[path].st_mode)]
    return sorted(files) + sorted(lost, key=len, reverse=True)


def _record_of(gone: Sequence[str]) -> tarfile.TarInfo:
    record = tarfile.TarInfo(_RECORD)
    record.type = tarfile.DIRTYPE
    record.pax_headers = {_GONE: "\n".join(gone)}
    return record


def _added_bytes(facts: os.stat_result) -> int:
    return facts.st_size if stat.S_ISREG(facts.st_mode) else 0


def _walk(workspace: Path) -> Iterator[tuple[str, os.stat_result]]:
    """Every path below with its `lstat`. Links are not followed. Nothing may run in the workspace meanwhile.

    Raises ProductTooLarge for a path longer than MAX_PATH_BYTES before it enters it.
    """
    for folder, folders, files in os.walk(workspace, onerror=None):
        for name in [*folders, *files]:
            path = os.path.join(folder, name)  # noqa: PTH118 - names may not be text
            relative = os.path.relpath(path, workspace)
            if len(os.fsencode(relative)) > MAX_PATH_BYTES:
                raise ProductTooLarge(f"the build left a path of more than {MAX_PATH_BYTES} bytes behind")
            facts = os.lstat(path)
            if stat.S_ISDIR(facts.st_mode) and facts.st_mode & 0o700 != 0o700:
                os.chmod(path, 0o700)  # noqa: PTH101
            yield relative, facts


def _is_product(workspace: Path, path: str, facts: os.stat_result, inputs: Mapping[str, bytes]) -> bool:
    if stat.S_ISDIR(facts.st_mode):
        is_of_inputs = any(name.startswith(f"{path}/") for name in inputs)
        return not is_of_inputs or stat.S_IMODE(facts.st_mode) != _fresh_mode(0o777)
    if stat.S_ISREG(facts.st_mode):
        return not _is_input(workspace / path, path, facts, inputs)
    return stat.S_ISLNK(facts.st_mode) or stat.S_ISFIFO(facts.st_mode)


def _fresh_mode(mode: int) -> int:
    """The mode of a file or folder that this process makes."""
    return mode & ~_umask()


@cache
def _umask() -> int:
    """The umask of this process, as Linux tells it; asking the C library would change it for other threads."""
    status = Path("/proc/self/status").read_text(encoding="utf-8", errors="replace")
    _, _, found = status.partition("\nUmask:")
    return int(found.split(maxsplit=1)[0] if found else "022", 8)


def _add(tar: tarfile.TarFile, workspace: Path, path: str, facts: os.stat_result, rank: int) -> None:
    info = tarfile.TarInfo(path)
    info.mode, info.mtime = stat.S_IMODE(facts.st_mode) & 0o777, rank
    if stat.S_ISDIR(facts.st_mode):
        info.type = tarfile.DIRTYPE
    elif stat.S_ISLNK(facts.st_mode):
        info.type, info.linkname = tarfile.SYMTYPE, str((workspace / path).readlink())
    elif stat.S_ISFIFO(facts.st_mode):
        info.type = tarfile.FIFOTYPE
    else:
        info.size = facts.st_size
        with _open(workspace / path) as file:
            tar.addfile(info, file)
        return
    tar.addfile(info)


def _is_input(place: Path, path: str, facts: os.stat_result, inputs: Mapping[str, bytes]) -> bool:
    content = inputs.get(path)
    if content is None or facts.st_size != len(content) or stat.S_IMODE(facts.st_mode) != _fresh_mode(0o666):
        return False
    with _open(place) as file:
        return file.read() == content


def _open(place: Path) -> io.BufferedReader:
    try:
        return place.open("rb")
    except PermissionError:
        place.chmod(0o600)
        return place.open("rb")


def file_in(product: bytes, path: str, limit_bytes: int) -> bytes | None:
    """One file of a product; None if it has no such file or a larger one. Raises ValueError if it is damaged."""
    if product == EMPTY:
        return None
    try:
        with tarfile.open(fileobj=io.BytesIO(product), mode="r:") as tar:
            member = next((one for one in tar if one.name == path), None)
            is_plain = member is not None and member.isreg() and not member.issparse() and member.size <= limit_bytes
            source = tar.extractfile(member) if member is not None and is_plain else None
            return source.read() if source else None
    except tarfile.TarError as error:
        raise ValueError(f"the artefact is damaged: {error}") from error


def restore(product: bytes, workspace: Path, protected: Collection[str]) -> None:
    """Extract a product into a fresh workspace. Of `protected` paths only the mode is restored.

    The product may come from another node and is not trusted: nothing is written through a link or outside the
    workspace. Links may point anywhere, because only commands follow them. Raises ValueError if it is damaged.
    """
    if product == EMPTY:
        return
    began_ns, folders = time.time_ns(), {}
    try:
        with tarfile.open(fileobj=io.BytesIO(product), mode="r:") as tar:
            for member in tar:
                if member.name == _RECORD:
                    _remove(member.pax_headers.get(_GONE, "").split("\n"), workspace, protected)
                elif _is_safe(workspace, member.name):
                    # Where a test's file is in the way of a folder, the file stays.
                    with suppress(FileExistsError, NotADirectoryError):
                        _extract(tar, member, workspace / member.name, began_ns, is_protected=member.name in protected)
                    if member.isdir():
                        folders[member.name] = member.mode
    except tarfile.TarError as error:
        raise ValueError(f"the artefact is damaged: {error}") from error
    for name in sorted(folders, reverse=True):  # the inner first: the outer may be closed
        folder = workspace / name
        if _is_safe(workspace, name) and folder.is_dir() and not folder.is_symlink():
            folder.chmod(folders[name] & 0o777)


def _remove(gone: Iterable[str], workspace: Path, protected: Collection[str]) -> None:
    for name in gone:
        if name in protected or not _is_safe(workspace, name):
            continue
        target = workspace / name
        with suppress(OSError):  # a folder that still holds a protected file
            target.rmdir() if target.is_dir() and not target.is_symlink() else target.unlink()


def _is_safe(workspace: Path, name: str) -> bool:
    """Whether a name is a normal path inside the workspace that does not lead through a link."""
    parts = name.split("/")
    is_normal = name == posixpath.normpath(name) and len(os.fsencode(name)) <= MAX_PATH_BYTES and "\0" not in name
    is_inside = parts[0] not in {"", ".", ".."}
    return (
        is_normal
        and is_inside
        and not any(workspace.joinpath(*parts[:count]).is_symlink() for count in range(1, len(parts)))
    )


def _extract(tar: tarfile.TarFile, member: tarfile.TarInfo, target: Path, began_ns: int, *, is_protected: bool) -> None:
    if is_protected:
        if member.isreg() and target.is_file():
            target.chmod(member.mode & 0o777)
        return
    if target.is_dir() and not target.is_symlink():
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    if member.isdir():
        target.mkdir(exist_ok=True)
        return
    target.unlink(missing_ok=True)
    if member.issym():
        target.symlink_to(member.linkname)
    elif member.isfifo():
        os.mkfifo(target)
    else:
        source = tar.extractfile(member) if member.isreg() and not member.issparse() else None
        target.write_bytes(source.read() if source else b"")
    if not member.issym():
        target.chmod(member.mode & 0o777)
    rank = member.mtime if 0 <= member.mtime < _MOST_RANKS else 0
    written_ns = began_ns + _STEP_NS * int(rank)
    os.utime(target, ns=(written_ns, written_ns), follow_symlinks=False)
