"""The product of a build: one tar of the files that it added to a workspace or changed there."""

import io
import os
import posixpath
import stat
import tarfile
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

EMPTY = b""
"""The product of a build that added and changed nothing."""


MAX_PATH_BYTES = 1024
"""Maximum length of a path in the workspace. Longer ones are refused because walking them can fail."""


class ProductTooLarge(Exception):
    """The build left more data than may be kept. The message states the limit."""


def collect(workspace: Path, inputs: Mapping[str, bytes], limit_bytes: int) -> bytes:
    """A tar of all files that differ from `inputs`, without owners and times. Equal files give equal bytes.

    Links that leave the workspace, devices, sockets and pipes are dropped. Raises ProductTooLarge.
    """
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for path, facts in sorted(_walk(workspace)):
            if buffer.tell() + _added_bytes(facts) > limit_bytes:  # sparse files may exceed the disk
                raise ProductTooLarge(f"the build left more than {limit_bytes >> 20} MiB behind")
            _add(tar, workspace, path, facts, inputs)
        empty = buffer.tell() == 0
    if buffer.tell() > limit_bytes:
        raise ProductTooLarge(f"the build left more than {limit_bytes >> 20} MiB behind")
    return EMPTY if empty else buffer.getvalue()


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


def _add(tar: tarfile.TarFile, workspace: Path, path: str, facts: os.stat_result, inputs: Mapping[str, bytes]) -> None:
    info = tarfile.TarInfo(path)
    info.mode = stat.S_IMODE(facts.st_mode) & 0o777
    if stat.S_ISDIR(facts.st_mode):
        if not any(name.startswith(f"{path}/") for name in inputs):
            info.type, info.mode = tarfile.DIRTYPE, info.mode | 0o700
            tar.addfile(info)
    elif stat.S_ISLNK(facts.st_mode):
        info.type, info.linkname = tarfile.SYMTYPE, str((workspace / path).readlink())
        if _stays_inside(path, info.linkname):
            tar.addfile(info)
    elif stat.S_ISREG(facts.st_mode) and not _is_input(workspace / path, path, facts, inputs):
        info.size = facts.st_size
        with _open(workspace / path) as file:
            tar.addfile(info, file)


def _is_input(place: Path, path: str, facts: os.stat_result, inputs: Mapping[str, bytes]) -> bool:
    content = inputs.get(path)
    if content is None or facts.st_size != len(content) or facts.st_mode & 0o111:
        return False
    with _open(place) as file:
        return file.read() == content


def _open(place: Path) -> io.BufferedReader:
    try:
        return place.open("rb")
    except PermissionError:
        place.chmod(0o600)
        return place.open("rb")


def _stays_inside(path: str, target: str) -> bool:
    reached = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
    return not (target.startswith("/") or reached == ".." or reached.startswith("../"))


def restore(product: bytes, workspace: Path, protected: Collection[str]) -> None:
    """Extract a product into a fresh workspace; `protected` paths stay as they are. Raises ValueError if it is damaged.

    The product may come from another node and is not trusted: no path or link may lead out of the workspace.
    """
    if product == EMPTY:
        return
    links: set[str] = set()
    try:
        with tarfile.open(fileobj=io.BytesIO(product), mode="r:") as tar:
            for member in tar:
                if _is_safe(member.name, links) and member.name not in protected:
                    _extract(tar, member, workspace, links)
    except tarfile.TarError as error:
        raise ValueError(f"the artefact is damaged: {error}") from error


def _is_safe(name: str, links: Collection[str]) -> bool:
    """Whether a name is a normal path inside the workspace that does not lead through a link."""
    parts = name.split("/")
    above = ("/".join(parts[:count]) for count in range(1, len(parts)))
    is_normal = name == posixpath.normpath(name) and len(os.fsencode(name)) <= MAX_PATH_BYTES
    is_inside = parts[0] not in {"", ".", ".."}
    return is_normal and is_inside and not any(folder in links for folder in above)


def _extract(tar: tarfile.TarFile, member: tarfile.TarInfo, workspace: Path, links: set[str]) -> None:
    target = workspace / member.name
    if member.isdir():
        target.mkdir(parents=True, exist_ok=True)
        target.chmod(member.mode & 0o777)
    elif member.issym() and not os.path.lexists(target) and _stays_inside(member.name, member.linkname):
        target.parent.mkdir(parents=True, exist_ok=True)
        target.symlink_to(member.linkname)
        links.add(member.name)
    elif member.isreg() and not member.issparse() and not target.is_dir():
        _extract_file(tar, member, target)


def _extract_file(tar: tarfile.TarFile, member: tarfile.TarInfo, target: Path) -> None:
    source = tar.extractfile(member)
    assert source is not None
    target.parent.mkdir(parents=True, exist_ok=True)
    target.unlink(missing_ok=True)
    target.write_bytes(source.read())
    target.chmod(member.mode & 0o777)
