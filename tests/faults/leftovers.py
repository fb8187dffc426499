"""Leftovers of a run on its machine: processes, workspaces, unsent reports, control groups, mounts."""

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from runners.agent.sandbox.cages import GROUP_PREFIX

TRACES = ("cmdline", "environ", "mountinfo")
"""Files under /proc/<pid> that name the run's folder for all of its processes: those in a sandbox mount parts of it."""


def leftovers(folder: Path, agents: Iterable[int]) -> list[str]:
    """Lists the leftovers of a run under `folder` whose nodes had these process ids."""
    return [*_processes(folder), *_files(folder), *_groups(agents)]


def _processes(folder: Path) -> Iterator[str]:
    name = str(folder).encode()
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if any(name in (process / trace).read_bytes() for trace in TRACES if not _is_ours(process, trace)):
                yield f"process {process.name}: {(process / 'comm').read_text().strip()}"


def _is_ours(process: Path, trace: str) -> bool:
    """Whether the trace tells nothing: all processes outside of sandboxes see the mounts of this one."""
    return trace == "mountinfo" and (process / "ns/mnt").readlink() == Path("/proc/self/ns/mnt").readlink()


def _files(folder: Path) -> Iterator[str]:
    for pattern in ("*/node/work/*", "*/node/outbox/*/*"):
        yield from (f"file {path.relative_to(folder)}" for path in folder.glob(pattern))


def _groups(agents: Iterable[int]) -> Iterator[str]:
    ours = tuple(f"{GROUP_PREFIX}{agent}-" for agent in agents)
    for parent, names, _ in os.walk("/sys/fs/cgroup"):
        yield from (f"control group {parent}/{name}" for name in names if name.startswith(ours))
