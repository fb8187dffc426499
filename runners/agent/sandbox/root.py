"""The private root of a sandbox, built from a list: system folders, a minimal /etc and the toolchains outside /usr."""

import logging
import os
import shutil
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from runners.agent.ground.atomic import write_atomically
from runners.agent.ground.homes import why_private

logger = logging.getLogger("podium.sandbox")

SYSTEM_FOLDERS = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
TOOLS = ("g++", "gcc", "clang++", "nvcc", "cuobjdump", "ccache", "cmake", "make", "ninja")
BASE_PATH = ("/usr/local/bin", "/usr/bin", "/bin")
SANDBOX_USER = 1000
ETC_FILES = {
    "passwd": f"root:x:0:0:root:/:/usr/sbin/nologin\npodium:x:{SANDBOX_USER}:{SANDBOX_USER}:podium:/tmp:/bin/sh\n",
    "group": f"root:x:0:\npodium:x:{SANDBOX_USER}:\n",
    "hosts": "127.0.0.1 localhost\n",
    "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
}


@dataclass(frozen=True)
class Toolchains:
    """This machine's tools that are shown read-only, each at its own path."""

    folders: tuple[Path, ...]
    programs: tuple[Path, ...] = ()
    """Programs that are shown without the folder in which they lie."""
    links: tuple[Path, ...] = ()
    """Symbolic links through which a program is found and that lie in no shown folder."""
    search_path: tuple[str, ...] = field(default=BASE_PATH)


def interpreter() -> Path:
    """The Python that problems run under: PODIUM_PYTHON, else the agent's own, whose packages they may use."""
    return Path(os.environ.get("PODIUM_PYTHON") or sys.executable).absolute()


def find_toolchains() -> Toolchains:
    """This machine's tools outside /usr, including Python's folders.

    A tool is shown with its installation, the folder above its `bin`. If that is a person's folder, only the program
    is shown. Python is always shown with its installation.
    """
    found = [interpreter(), *(Path(place).absolute() for tool in TOOLS if (place := shutil.which(tool)))]
    real = [program.resolve() for program in found[1:] if not _in_system(program.resolve())]
    installations = {program: folder for program in real if (folder := _installation(program))}
    folders = [*_python_folders(found[0]), *installations.values()]
    shown = _outermost(sorted({folder for folder in folders if not _in_system(folder)}))
    programs = sorted({program for program in real if program not in installations and not _beneath(program, shown)})
    for program in programs:
        logger.warning(
            "Jobs see %s and nothing else of its folder, which may hold private files. If it needs other files, install"
            " it under a folder of its own.", program,
        )  # fmt: skip
    links = [link for program in found for link in _links(program) if not (_in_system(link) or _beneath(link, shown))]
    ahead = [str(program.parent) for program in found]
    first, others = ahead[0], [folder for folder in ahead[1:] if folder not in BASE_PATH]
    return Toolchains(
        tuple(shown), tuple(programs), tuple(dict.fromkeys(links)), tuple(dict.fromkeys([first, *others, *BASE_PATH]))
    )


def _installation(program: Path) -> Path | None:
    """The folder of a program's installation; None if there is none that jobs may see whole."""
    folder = program.parent.parent
    return folder if program.parent.name == "bin" and not why_private(folder) else None


def _python_folders(python: Path) -> list[Path]:
    """The environment of an interpreter and the installation behind it."""
    if python == Path(sys.executable):
        return [Path(sys.prefix), Path(sys.base_prefix)]
    environment, installation = python.parent.parent, python.resolve().parent.parent
    return [environment, installation] if (environment / "pyvenv.cfg").is_file() else [installation]


def _links(program: Path) -> list[Path]:
    """The symbolic links from a program's name to the program itself."""
    links = []
    while program.is_symlink() and program not in links:
        links.append(program)
        program = Path(os.path.normpath(program.parent / program.readlink()))
    return links


def _in_system(path: Path) -> bool:
    return path == Path("/") or str(path).startswith("/usr/") or path == Path("/usr")


def _outermost(folders: list[Path]) -> list[Path]:
    return [folder for folder in folders if not any(other in folder.parents for other in folders)]


def _beneath(path: Path, folders: list[Path]) -> bool:
    return any(path.is_relative_to(folder) for folder in folders)


def stage_etc(cache_dir: Path) -> Path:
    """A folder to show as /etc: users and hosts of our own, the loader's cache, the host's alternatives."""
    etc = cache_dir / "etc"
    etc.mkdir(parents=True, exist_ok=True, mode=0o755)
    for name, text in ETC_FILES.items():
        _replace(etc / name, text.encode())
    for name in ("ld.so.cache", "ld.so.conf"):
        source = Path("/etc") / name
        if source.exists():
            _replace(etc / name, source.read_bytes())
    alternatives = etc / "alternatives"
    if not alternatives.is_dir() and Path("/etc/alternatives").is_dir():
        _copy_folder(Path("/etc/alternatives"), alternatives)
    etc.chmod(0o755)
    return etc


def _copy_folder(source: Path, target: Path) -> None:
    """Copy beside `target` and rename: of several agents that start at once, one puts the folder there."""
    with tempfile.TemporaryDirectory(prefix=".draft-", dir=target.parent.parent) as drafts:
        draft = Path(drafts, target.name)
        shutil.copytree(source, draft, symlinks=True)
        draft.chmod(0o755)
        try:
            draft.rename(target)
        except OSError:
            if not target.is_dir():
                raise


def _replace(path: Path, data: bytes) -> None:
    """Write the file atomically, because another agent's sandbox may be reading it."""
    if path.exists() and path.read_bytes() == data:
        return
    write_atomically(path, data, mode=0o644)


def base_environment(toolchains: Toolchains) -> dict[str, str]:
    """The environment of a command, without a judge's additions."""
    return {
        "PATH": ":".join(toolchains.search_path),
        "HOME": "/tmp",  # noqa: S108 - private to the sandbox
        "TMPDIR": "/tmp",  # noqa: S108
        "LANG": "C.UTF-8",
        "USER": "podium",
        "SHELL": "/bin/sh",
        "TERM": "dumb",
        "PYTHONNOUSERSITE": "1",
        # Its leak check traces the program, which no sandbox allows: without this every sanitized test would fail.
        "LSAN_OPTIONS": "detect_leaks=0",
    }
