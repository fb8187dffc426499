"""Maps a slot to the users that its commands run as. Only an agent started as root can switch to them."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from runners.agent.ground.errors import SandboxFault
from runners.agent.sandbox.policy import Command, User

FIRST_SLOT_UID = 61_000
USERS: tuple[User, ...] = get_args(User)
"""Every slot has one uid for each, in this order."""


@dataclass(frozen=True)
class Identity:
    uid: int
    gid: int
    dropped: bool
    """True if only this command runs as this user, so that all its processes may be killed."""


def identity_of(slot: int, user: User) -> Identity:
    if os.geteuid() != 0:
        return Identity(os.geteuid(), os.getegid(), dropped=False)
    uid = FIRST_SLOT_UID + len(USERS) * slot + USERS.index(user)
    return Identity(uid, uid, dropped=True)


def identity_for(command: Command) -> Identity:
    """The user that runs the command. It owns the workspace from here on.

    Raises SandboxFault if there is no workspace.
    """
    workspace = command.workspace
    if not workspace.is_dir():
        raise SandboxFault(f"there is no workspace at {workspace}: make the folder before a command is run in it")
    identity = identity_of(command.slot, command.user)
    hand_over(workspace, identity)
    return identity


def hand_over(workspace: Path, identity: Identity) -> None:
    """Give the workspace to the user. Links are not followed; no process of the contestant runs meanwhile.

    Raises SandboxFault if this root may not, as in a user namespace that lacks the user.
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
    """Whether a user with no rights of its own could open `path`, by the modes of `path` and of all folders above."""
    real = path.resolve()
    return all(folder.exists() and folder.stat().st_mode & 0o001 for folder in [real, *real.parents])
