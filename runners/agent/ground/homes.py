"""Finds the folders that hold people's private files. No sandbox may show one of them whole."""

import os
import pwd
from pathlib import Path

PERSONS = range(1000, 65534)
"""User ids of people. Services have smaller ones; root, which is 0, has a home, too."""
SHARED_WITH_KEYS = (".local", ".config", ".cache")
"""Folders of a home in which programs keep keys and tokens beside other things."""


def why_private(folder: Path) -> str:
    """The reason why jobs may not see the whole folder, in words; empty if they may."""
    place = folder.resolve()
    for home in _homes():
        if place == home or place in home.parents:
            return f"{folder} is or holds a home folder, and jobs may see no private files"
        if place in [home / name for name in SHARED_WITH_KEYS]:
            return f"{folder} may hold keys and tokens, and jobs may see no private files"
    return ""


def _homes() -> set[Path]:
    """The homes of people, of root and of this process."""
    users = {user.pw_dir for user in pwd.getpwall() if user.pw_uid in PERSONS or user.pw_uid in (0, os.geteuid())}
    homes = {Path(name) for name in (*users, os.environ.get("HOME", ""))} | set(Path("/home").glob("*"))
    return {home.resolve() for home in homes if home.is_absolute() and home != Path("/")}
