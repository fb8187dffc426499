"""Which user a slot's commands run as: an agent started as root gives every slot a user that nothing else has."""

import os
from dataclasses import dataclass
from pathlib import Path

from runners.agent.sandbox.policy import SandboxFault

FIRST_SLOT_UID = 61_000


@dataclass(frozen=True)
class Identity:
    uid: int
    gid: int
    dropped: bool
    """True where this user belongs to the slot alone, so everything that runs as it may be killed."""


def identity_of(slot: int) -> Identity:
    if os.geteuid() != 0:
        return Identity(os.geteuid(), os.getegid(), dropped=False)
    uid = FIRST_SLOT_UID + slot
    return Identity(uid, uid, dropped=True)


def identity_in(workspace: Path, slot: int) -> Identity:
    """The slot's user, who owns the workspace from here on. Raises SandboxFault where there is no such folder."""
    if not workspace.is_dir():
        raise SandboxFault(f"there is no workspace at {workspace}: make the folder before a command is run in it")
    identity = identity_of(slot)
    hand_over(workspace, identity)
    return identity


def hand_over(workspace: Path, identity: Identity) -> None:
    """Make the slot's user own the workspace. Links are not followed; no process of the contestant runs meanwhile.

    Raises SandboxFault where this root may not, as in a user namespace without the slots' users.
    """
    if not identity.dropped:
        return
    try:
        _own(workspace, identity)
    except OSError as error:
        raise SandboxFault(
            f"root here may not give files to user {identity.uid} ({error.strerror}): the container or namespace"
            " around this program lacks that user; start it as an ordinary user instead"
        ) from error


def _own(workspace: Path, identity: Identity) -> None:
    for folder, folders, files in os.walk(workspace):
        for path in [folder, *(f"{folder}/{name}" for name in folders + files)]:
            if os.lstat(path).st_uid != identity.uid:
                os.chown(path, identity.uid, identity.gid, follow_symlinks=False)


def reachable_by_others(path: Path) -> bool:
    """Whether a user with no rights of its own could open `path`: it and every folder above let others in."""
    real = path.resolve()
    return all(folder.exists() and folder.stat().st_mode & 0o001 for folder in [real, *real.parents])
