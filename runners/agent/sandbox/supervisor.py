"""Builds podium-supervisor once per node, writes its orders and reads its report."""

import hashlib
import json
import os
import secrets
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from runners.agent.sandbox.policy import Command, SandboxFault, SandboxUnavailable
from runners.protocol import Witness

NATIVE = Path(__file__).parent / "native"
LAUNCHER = Path(__file__).parent / "pylaunch.py"
PROGRAM = "podium-supervisor"
MEND_COMPILER = "install a C++ compiler (apt install g++) or name a built program in PODIUM_SUPERVISOR"


def default_cache_directory() -> Path:
    """Where node-wide files live: readable for the slots' users when the agent is root."""
    if os.geteuid() == 0:
        return Path("/var/cache/podium")
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "podium"


def build(cache_dir: Path) -> Path:
    """The program's path, in a folder that is mounted whole: beside it the launcher, and the `bin` that shadows python
    and nvcc.

    Raises SandboxUnavailable where it can neither be found nor compiled.
    """
    folder = cache_dir / f"supervisor-{_source_digest()[:16]}"
    program = folder / PROGRAM
    if not program.exists():
        _install(folder)
    return program


def _source_digest() -> str:
    digest = hashlib.sha256(os.environ.get("PODIUM_SUPERVISOR", "").encode())
    for source in [*sorted(NATIVE.iterdir()), LAUNCHER]:
        digest.update(source.name.encode() + b"\0" + source.read_bytes())
    return digest.hexdigest()


def _install(folder: Path) -> None:
    """Into a folder of its own first, so that agents starting together never see half of it."""
    draft = folder.with_name(f"{folder.name}.{secrets.token_hex(4)}")
    (draft / "bin").mkdir(parents=True, mode=0o755)
    try:
        _obtain(draft / PROGRAM)
        shutil.copyfile(LAUNCHER, draft / LAUNCHER.name)
        for name in ("python", "python3", f"python3.{sys.version_info.minor}", "nvcc"):
            (draft / "bin" / name).symlink_to(f"../{PROGRAM}")
        _open_to_all(draft)
        draft.rename(folder)
    except OSError:
        if not (folder / PROGRAM).exists():
            raise
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _open_to_all(folder: Path) -> None:
    """The slots' users read and run what root made, whatever root's umask."""
    for path in (folder, folder / "bin", folder / PROGRAM):
        path.chmod(0o755)
    (folder / LAUNCHER.name).chmod(0o644)


def _obtain(target: Path) -> None:
    prebuilt = os.environ.get("PODIUM_SUPERVISOR")
    if prebuilt:
        shutil.copyfile(prebuilt, target)
        return
    compiler = shutil.which("g++")
    if compiler is None:
        raise SandboxUnavailable(f"podium-supervisor is not built and there is no g++: {MEND_COMPILER}")
    static = _compile(compiler, target, "-static")
    if static and _compile(compiler, target, "-static-libstdc++", "-static-libgcc"):
        raise SandboxUnavailable(f"podium-supervisor does not compile: {MEND_COMPILER}\n{static[-2000:]}")


def _compile(compiler: str, target: Path, *extra: str) -> str:
    """The compiler's complaint, empty when it worked."""
    arguments = [compiler, "-std=c++17", "-O2", *extra, "-o", str(target), str(NATIVE / "supervisor.cpp")]
    done = subprocess.run(arguments, capture_output=True, text=True, errors="replace", check=False)
    return "" if done.returncode == 0 else done.stderr or "the compiler failed without a word"


@dataclass(frozen=True)
class Orders:
    """What one supervisor is told: the command, and how its sandbox shows things."""

    command: Command
    workspace: str
    home: str
    """Folder of the supervisor, its launcher and its shims as the sandbox sees it."""
    environment: Mapping[str, str]
    inherit_environment: bool = False
    owns_everyone: bool = True
    processes: int = 0
    linger: bool = False
    nonce: str = field(default_factory=lambda: secrets.token_hex(16))

    def encode(self) -> bytes:
        return b"".join(_entry(key, value) for key, value in [*self._entries(), ("end", "")])

    def _entries(self) -> list[tuple[str, str]]:
        limits = self.command.limits
        entries: list[tuple[str, str]] = [
            ("nonce", self.nonce),
            ("command", self.command.shell),
            ("workspace", self.workspace),
            ("launcher", f"{self.home}/{LAUNCHER.name}"),
            ("path_prefix", f"{self.home}/bin"),
            ("wall_ms", str(max(1, round(limits.wall_seconds * 1000)))),
            ("file_bytes", str(limits.file_bytes)),
            ("processes", str(self.processes)),
            ("inherit_environment", str(int(self.inherit_environment))),
            ("trace", str(int(self.command.trace))),
            ("harness_separate", str(int(self.command.harness == "separate"))),
            ("owns_everyone", str(int(self.owns_everyone))),
            ("linger", str(int(self.linger))),
        ]
        return entries + [("env", f"{name}={value}") for name, value in self.environment.items()]


def _entry(key: str, value: str) -> bytes:
    data = value.encode("utf-8", "surrogateescape")
    if b"\0" in data:
        raise SandboxFault(f"the order {key!r} holds a NUL byte, which no program can be given: refuse it earlier")
    return b"%s %d\n%s\n" % (key.encode(), len(data), data)


@dataclass(frozen=True)
class Report:
    """What the supervisor saw. Times are milliseconds."""

    exit_code: int | None
    signal: int | None
    timed_out: bool
    cancelled: bool
    wall_ms: float
    cpu_ms: float
    max_rss_bytes: int
    witness: Witness
    witness_detail: str


def split_report(tail: bytes, nonce: str) -> tuple[int, Report] | None:
    """Where in the end of stdout the report begins, and the report; None where there is none.

    Only the last line counts, and only with the nonce that the command never saw.
    """
    start = tail.rfind(b"\n" + nonce.encode() + b" ")
    if start < 0 or not tail.endswith(b"}\n"):
        return None
    try:
        facts = json.loads(tail[start + len(nonce) + 2 :])
        return start, Report(**{**facts, "witness": Witness(facts["witness"])})
    except (ValueError, TypeError, KeyError):
        return None
