"""Copies of a whole site: database, blobs and signing key, made while it runs, and restored into an empty place.

`FOLDER/<time>/` holds the database, the key and a manifest; `FOLDER/blobs` the blobs of all backups.
The database is copied first: a blob is stored before the rows that name it, so each that the copy names is there.
"""

import hashlib
import json
import os
import shutil
import sqlite3
import subprocess
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import IO

from django.conf import settings
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.utils import timezone

from leaderboard import blobs

MANIFEST, KEY, BLOBS = "manifest.json", "secret_key", "blobs"
DATABASES = {"sqlite": "database.sqlite3", "postgresql": "database.dump"}
TIME_FORMAT = "%Y%m%dT%H%M%SZ"
MOST_NAMED = 5


class BackupFailed(Exception):
    """Words for the site's operator: the fault, its place, and how to mend it."""


@dataclass(frozen=True)
class BackupManifest:
    """The contents of a backup. `migrations` are those that the database has had, as `app.name`."""

    at: str
    podium: str
    vendor: str
    sha256: str
    migrations: tuple[str, ...]


def back_up(folder: Path, keep: int) -> tuple[Path, int]:
    """A new backup, and how many blobs were new in `folder`. The oldest go, so that `keep` remain.

    Raises BackupFailed and BlobsUnavailable.
    """
    at = timezone.now().strftime(TIME_FORMAT)
    draft, target = folder / f".{at}", folder / at
    folder.mkdir(parents=True, exist_ok=True)
    draft.mkdir(mode=0o700)  # whole or not at all: it gets its name when everything is in it
    try:
        database = draft / DATABASES[connection.vendor]
        _dump(database)
        _write_private(draft / KEY, settings.SECRET_KEY.encode())
        n_new = sum(_copied(source, _kept(folder, name)) for name, source in _stores())
        manifest = BackupManifest(at, version("podium"), connection.vendor, _digest(database), _migrations())
        _write_private(draft / MANIFEST, json.dumps(asdict(manifest), indent=1).encode())
        draft.rename(target)
    except BaseException:
        shutil.rmtree(draft)
        raise
    for old in backups_in(folder)[:-keep]:
        shutil.rmtree(old)
    return target, n_new


def backups_in(folder: Path) -> list[Path]:
    """The oldest first."""
    return sorted(path.parent for path in folder.glob(f"[0-9]*/{MANIFEST}"))


def restore(backup: Path, replace: bool) -> BackupManifest:
    """Put the backup in the place of the configured database, blobs and key.

    Raises BackupFailed, before it changes anything unless PostgreSQL's program or a blob fails, and BlobsUnavailable.
    """
    manifest = _checked(backup)
    if not replace and (named := _in_use()):
        raise BackupFailed(f"The database is in use: it has {named}. Stop the site and give --replace to lose them.")
    _check_key(backup)
    _load(backup / DATABASES[connection.vendor])
    for name, target in _stores():
        if isinstance(target, blobs.FolderBlobs):
            target.root.mkdir(parents=True, exist_ok=True)
        _copied(_kept(backup.parent, name), target)
    if settings.SECRET_KEY_IS_GENERATED:
        _write_private(settings.VAR_DIR / KEY, (backup / KEY).read_bytes())
    return manifest


def _stores() -> Iterable[tuple[str, blobs.BlobStore]]:
    return (("all", blobs.store()), ("uploads", blobs.uploads()))


def _kept(folder: Path, name: str) -> blobs.FolderBlobs:
    root = folder / BLOBS / name
    root.parent.mkdir(mode=0o700, exist_ok=True)
    root.mkdir(exist_ok=True)
    return blobs.FolderBlobs(root)


class _Hashed:
    """A file that knows the digest of what was read from it."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._digest = hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        found = self._file.read(size)
        self._digest.update(found)
        return found

    @property
    def sha256(self) -> str:
        return self._digest.hexdigest()


def _copied(source: blobs.BlobStore, target: blobs.BlobStore) -> int:
    """How many were new. All that can be copied are, whatever is wrong with others."""
    n_new, damaged = 0, []
    for sha256 in source.names():
        if target.has(sha256):
            continue
        with source.open(sha256) as file:
            hashed = _Hashed(file)
            target.put_file(sha256, hashed)  # type: ignore[arg-type]
        if hashed.sha256 == sha256:
            n_new += 1
        else:
            target.delete(sha256)
            damaged.append(sha256)
    if damaged:
        named = ", ".join(damaged[:MOST_NAMED]) + (" …" if len(damaged) > MOST_NAMED else "")
        raise BackupFailed(f"{len(damaged)} blobs do not hold what their names say: {named}. Delete or mend them.")
    return n_new


def _dump(target: Path) -> None:
    if connection.vendor == "sqlite":
        connection.ensure_connection()
        copy = sqlite3.connect(target)
        with copy:
            connection.connection.backup(copy)
        copy.close()
    else:
        _postgres("pg_dump", "--format=custom", "--no-owner", f"--file={target}")


def _load(dump: Path) -> None:
    if connection.vendor == "sqlite":
        connection.close()
        place = Path(settings.DATABASES["default"]["NAME"])
        draft = place.with_name(f".{place.name}.restored")
        shutil.copyfile(dump, draft)
        for beside in ("-wal", "-shm"):
            place.with_name(f"{place.name}{beside}").unlink(missing_ok=True)
        draft.rename(place)
    else:
        _postgres("pg_restore", "--list", str(dump))  # program and dump can be used: only then the old data go
        with connection.cursor() as cursor:
            cursor.execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
        connection.close()
        _postgres(
            "pg_restore",
            "--no-owner",
            "--single-transaction",
            f"--dbname={connection.settings_dict['NAME']}",
            str(dump),
        )


def _postgres(program: str, *arguments: str) -> None:
    """Run a program of PostgreSQL on the configured database; the password is in its environment alone."""
    config = connection.settings_dict
    names = {"HOST": "PGHOST", "PORT": "PGPORT", "USER": "PGUSER", "PASSWORD": "PGPASSWORD", "NAME": "PGDATABASE"}
    given = {variable: str(config[name]) for name, variable in names.items() if config.get(name)}
    try:
        ran = subprocess.run([program, *arguments], env=os.environ | given, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise BackupFailed(
            f"{program} is missing: install PostgreSQL's client programs, as new as the server."
        ) from None
    if ran.returncode:
        raise BackupFailed(f"{program} failed: {ran.stderr.strip()[:2000]}")


def _checked(backup: Path) -> BackupManifest:
    try:
        read = json.loads((backup / MANIFEST).read_text(encoding="utf-8"))
        manifest = BackupManifest(**{**read, "migrations": tuple(read["migrations"])})
    except (OSError, ValueError, TypeError, KeyError):
        raise BackupFailed(f"{backup} is no backup: it has no {MANIFEST} that can be read.") from None
    if manifest.vendor != connection.vendor:
        raise BackupFailed(f"The backup is of {manifest.vendor} and DATABASE_URL names {connection.vendor}.")
    if _digest(backup / DATABASES[manifest.vendor]) != manifest.sha256:
        raise BackupFailed(f"The database in {backup} is not the one that was stored: its digest differs.")
    known = {f"{app}.{name}" for app, name in MigrationLoader(None).disk_migrations}
    if newer := sorted(set(manifest.migrations) - known):
        raise BackupFailed(f"The backup is of a newer Podium ({manifest.podium}): this one does not know {newer[0]}.")
    return manifest


def _check_key(backup: Path) -> None:
    """Sessions, two-factor secrets and webhooks rest on the key."""
    if not settings.SECRET_KEY_IS_GENERATED and settings.SECRET_KEY.encode() != (backup / KEY).read_bytes():
        raise BackupFailed(f"PODIUM_SECRET_KEY is not the site's key. Set it to the content of {backup / KEY}.")


def _in_use() -> str:
    """Contents that an empty site does not have, in words; "" where there are none."""
    tables = connection.introspection.table_names()
    counted = {}
    with connection.cursor() as cursor:
        for table, name in (("auth_user", "users"), ("problems_release", "releases")):
            if table in tables:
                cursor.execute(f"SELECT COUNT(*) FROM {table}")  # noqa: S608 - one of two names above
                counted[name] = cursor.fetchone()[0]
    return " and ".join(f"{count} {name}" for name, count in counted.items() if count)


def _migrations() -> tuple[str, ...]:
    applied = MigrationLoader(connection).applied_migrations
    return tuple(sorted(f"{app}.{name}" for app, name in applied))


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _write_private(path: Path, content: bytes) -> None:
    draft = path.with_name(f".{path.name}.new")
    draft.unlink(missing_ok=True)
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(content)
    draft.rename(path)
