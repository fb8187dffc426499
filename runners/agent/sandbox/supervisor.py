"""Builds podium-supervisor once per node, writes its orders and reads its report."""

import json
import os
import py_compile
import secrets
import sys
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from runners.agent.ground.atomic import write_atomically
from runners.agent.ground.errors import SandboxFault, SandboxUnavailable
from runners.agent.ground.native import Recipe, find_or_build
from runners.agent.sandbox.policy import Command, SourceFacts
from runners.wire.protocol import Witness

NATIVE = Path(__file__).parent / "native"
LAUNCHER = Path(__file__).parent / "pylaunch.py"
BYTECODE = LAUNCHER.with_suffix(f".{sys.implementation.cache_tag}.pyc").name
PROGRAM = "podium-supervisor"
FLAGS = ("-std=c++17", "-O1")


def build(cache_dir: Path) -> Path:
    """Returns the program's path. Its folder is mounted as a whole and also holds the launcher, and the `bin` that
    shadows python and nvcc.

    Raises SandboxUnavailable if the program can neither be found nor compiled.
    """
    path = find_or_build(_recipe(), cache_dir).path
    with suppress(OSError):  # another user's folder, which may lack it
        _add_bytecode(path.parent)
    return path


def _add_bytecode(folder: Path) -> None:
    """Compile the launcher for this process's own Python: every test would compile it anew."""
    target = folder / BYTECODE
    if target.exists():
        return
    with tempfile.TemporaryDirectory(prefix="podium-launcher-") as draft:
        made = Path(draft, BYTECODE)
        unchecked = py_compile.PycInvalidationMode.UNCHECKED_HASH
        py_compile.compile(str(LAUNCHER), str(made), LAUNCHER.name, doraise=True, invalidation_mode=unchecked)
        write_atomically(target, made.read_bytes(), mode=0o644)


def launcher_for(python: Path, folder: Path) -> str:
    """Name of the launcher that this Python runs, in the folder that `build` made."""
    has_bytecode = python == Path(sys.executable) and (folder / BYTECODE).exists()
    return BYTECODE if has_bytecode else LAUNCHER.name


def _recipe() -> Recipe:
    prebuilt = os.environ.get("PODIUM_SUPERVISOR")
    shadows = ("python", "python3", f"python3.{sys.version_info.minor}", "nvcc")
    return Recipe(
        name=PROGRAM,
        prefix="supervisor",
        variable="PODIUM_SUPERVISOR",
        sources=NATIVE,
        inputs=("supervisor.cpp", "witness.cpp", "nvcc_shim.cpp", "object_cache.cpp"),
        flags=((*FLAGS, "-static"), (*FLAGS, "-static-libstdc++", "-static-libgcc")),
        unavailable=SandboxUnavailable,
        beside=(LAUNCHER,),
        links={f"bin/{name}": f"../{PROGRAM}" for name in shadows},
        prebuilt=Path(prebuilt) if prebuilt else None,
    )


@dataclass(frozen=True)
class Orders:
    """The orders of one supervisor: the command, and paths in its sandbox."""

    command: Command
    workspace: str
    home: str
    """Folder of the supervisor, its launcher and its shims as the sandbox sees it."""
    environment: Mapping[str, str]
    launcher: str = LAUNCHER.name
    """Its name in that folder."""
    channel: int | None = None
    """Descriptor of the command's channel, if the supervisor inherits it."""
    brake: int | None = None
    """Likewise of the supervisor's end of the brake."""
    door: str = ""
    """Path in the sandbox of the socket where the supervisor fetches both; empty if it inherits them."""
    inherit_environment: bool = False
    own_network: bool = True
    """Whether the sandbox has a network namespace of its own, so that the command may use the loopback device."""
    owns_everyone: bool = True
    exposed: bool = False
    """Whether the command can kill its supervisor, so that a supervisor that vanishes is no fault of this machine."""
    processes: int = 0
    linger: bool = False
    nonce: str = field(default_factory=lambda: secrets.token_hex(16))
    over: str = field(default_factory=lambda: secrets.token_hex(16))
    """The line by which the supervisor says that time is over, before the command is dead. A secret of its own: the
    command could read it from the pipe, and the nonce would let it forge a report."""

    def encode(self) -> bytes:
        return b"".join(_entry(key, value) for key, value in [*self._entries(), ("end", "")])

    def _entries(self) -> list[tuple[str, str]]:
        limits = self.command.limits
        entries: list[tuple[str, str]] = [
            ("nonce", self.nonce),
            ("over", self.over),
            ("command", self.command.shell),
            ("workspace", self.workspace),
            ("launcher", f"{self.home}/{self.launcher}"),
            ("path_prefix", f"{self.home}/bin"),
            ("wall_ms", _milliseconds(limits.wall_seconds)),
            ("processor_ms", _milliseconds(limits.processor_seconds) if limits.processor_seconds else "0"),
            ("longest_ms", _milliseconds(limits.longest_seconds)),
            ("file_bytes", str(limits.file_bytes)),
            ("processes", str(self.processes)),
            ("niceness", str(self.command.niceness)),
            ("channel", str(-1 if self.channel is None else self.channel)),
            ("brake", str(-1 if self.brake is None else self.brake)),
            ("door", self.door),
            ("inherit_environment", str(int(self.inherit_environment))),
            ("own_network", str(int(self.own_network))),
            ("trace", str(int(self.command.trace))),
            ("harness_separate", str(int(self.command.harness == "separate"))),
            ("owns_everyone", str(int(self.owns_everyone))),
            ("linger", str(int(self.linger))),
        ]
        sources = self.command.sources if self.command.trace else SourceFacts()
        entries += [("harness_file", name) for name in sources.harness_files]
        entries += [("solution_file", name) for name in sources.solution_files]
        entries += [("harness_function", name) for name in sources.harness_functions]
        entries.append(("is_mixed", str(int(sources.is_mixed))))
        return entries + [("env", f"{name}={value}") for name, value in self.environment.items()]


def _milliseconds(seconds: float) -> str:
    return str(max(1, round(seconds * 1000)))


def _entry(key: str, value: str) -> bytes:
    data = value.encode("utf-8", "surrogateescape")
    if b"\0" in data:
        raise SandboxFault(f"the order {key!r} holds a NUL byte, which no program can be given: refuse it earlier")
    return b"%s %d\n%s\n" % (key.encode(), len(data), data)


@dataclass(frozen=True)
class SupervisorReport:
    """The supervisor's observations. Times are milliseconds."""

    exit_code: int | None
    signal: int | None
    timed_out: bool
    cancelled: bool
    wall_ms: float
    cpu_ms: float
    stalled_ms: float
    lost_ms: float
    timed_ms: float
    others_ms: float
    steal_ms: float
    max_rss_bytes: int
    witness: Witness
    witness_detail: str


def split_report(tail: bytes, nonce: str) -> tuple[int, SupervisorReport] | None:
    """The offset of the report in the end of stdout, and the report; None if there is none.

    Only the last line counts, and only with the nonce that the command never saw.
    """
    start = tail.rfind(b"\n" + nonce.encode() + b" ")
    if start < 0 or not tail.endswith(b"}\n"):
        return None
    try:
        facts = json.loads(tail[start + len(nonce) + 2 :])
        return start, SupervisorReport(**{**facts, "witness": Witness(facts["witness"])})
    except (ValueError, TypeError, KeyError):
        return None
