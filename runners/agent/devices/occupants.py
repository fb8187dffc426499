"""Describes the processes on a GPU, so that an operator can find out why they did not end."""

from collections.abc import Iterable
from pathlib import Path

PROC = Path("/proc")
UNSEEN = "invisible from here: in another pid namespace, or dead while the driver still closes its files"
STATES = {"R": "running", "S": "sleeping", "D": "stuck in the kernel", "Z": "zombie", "T": "stopped"}


def describe(pids: Iterable[int], proc: Path = PROC) -> str:
    """A phrase for each process: its name, state, user, parent and its ids in inner pid namespaces."""
    return "; ".join(f"process {pid} ({_facts(proc / str(pid))})" for pid in sorted(pids)) or "no process"


def _facts(folder: Path) -> str:
    try:
        lines = (folder / "status").read_text(errors="replace").splitlines()
    except OSError:
        return UNSEEN
    told = {key: value.split() for key, _, value in (line.partition(":") for line in lines) if value.split()}
    state = told.get("State", ["?"])[0]
    words = [" ".join(told.get("Name", ["?"])), STATES.get(state, f"state {state}")]
    words += [f"user {told['Uid'][0]}"] if "Uid" in told else []
    words += [f"parent {told['PPid'][0]}"] if "PPid" in told else []
    inner = told.get("NSpid", [])[1:]
    return ", ".join(words + ([f"inside {'/'.join(inner)}"] if inner else []))
