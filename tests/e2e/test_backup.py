"""A site is backed up while it runs, broken, and restored: a person's drill, on each database."""

import shutil
import subprocess
from hashlib import sha256
from pathlib import Path
from typing import Any

import psycopg
import pytest
import requests

from tests.e2e.stack import Stack
from tests.packs import problem, solution
from tests.requirements import requires

pytestmark = [pytest.mark.rest, requires("bubblewrap")]


def board_of(stack: Stack) -> Any:
    return stack.api("GET", "releases/test-1/board/?track=cpu-test")["standings"]


def blobs_of(stack: Stack) -> set[str]:
    """Those that hold what their names say."""
    paths = [path for path in (stack.folder / "site" / "blobs").rglob("*") if path.is_file()]
    return {path.name for path in paths if sha256(path.read_bytes()).hexdigest() == path.name}


def drill(stack: Stack, break_database: Any) -> None:
    """`break_database` leaves it as a new machine has it."""
    backups = stack.folder / "backups"
    try:
        stack.start([problem("a/1"), problem("a/2")])
        submission = stack.submit([solution("a/1", "seq 20000; exit 0"), solution("a/2", "exit 1")])
        stack.wait_for(submission)
        stack.wait_until(lambda: any(row["rank"] for row in board_of(stack)), "it is ranked")
        before = board_of(stack)
        stored = blobs_of(stack)
        assert len(stored) >= 2, "solutions and logs"
        stack.manage("backup", str(backups))
        stack.manage("backup", str(backups), "--keep", "1")
        (kept,) = backups.glob("[0-9]*")
        modes = [path.stat().st_mode & 0o777 for path in (kept, backups / "blobs", kept / "secret_key")]
        assert modes == [0o700, 0o700, 0o600]
        after = stack.submit([solution("a/1", "exit 0"), solution("a/2", "exit 0")])
        stack.stop()

        shutil.rmtree(stack.folder / "site" / "blobs")
        (stack.folder / "site" / "secret_key").unlink()
        break_database()
        restored = stack.manage("restore", str(backups))
        assert kept.name in restored
        assert "Stored equals recomputed." in stack.manage("rebuild_standings", "--check")
        assert (stack.folder / "site" / "secret_key").stat().st_mode & 0o777 == 0o600

        stack.start_site()
        # not /readyz, which would want the worker: the backup's last sign of it is old by now
        stack.wait_until(lambda: requests.get(f"{stack.url}/livez", timeout=20).ok, "the site answers")
        assert board_of(stack) == before
        assert blobs_of(stack) == stored
        stack.start_worker()
        stack.start_node("node")
        again = stack.submit([solution("a/1", "exit 0"), solution("a/2", "exit 0")])
        assert again == after, "it is new to the restored site, and has the number that it had"
        stack.wait_for(again)
        with pytest.raises(subprocess.CalledProcessError) as refused:
            stack.manage("restore", str(backups))
        assert "users and 1 releases" in refused.value.stderr
    except BaseException:
        print(stack.logs())  # noqa: T201 - what a person needs to see of a failed run
        raise
    finally:
        stack.stop()


def test_sqlite_comes_back(tmp_path: Path) -> None:
    database = tmp_path / "site.sqlite3"
    stack = Stack(tmp_path, f"sqlite:///{database}", f"filesystem://{tmp_path}/broker", sandbox="bubblewrap")

    def break_database() -> None:
        for path in tmp_path.glob(f"{database.name}*"):
            path.unlink()

    drill(stack, break_database)


@requires("postgres")
def test_postgresql_comes_back(tmp_path: Path, postgres: str) -> None:
    stack = Stack(tmp_path, postgres, f"filesystem://{tmp_path}/broker", sandbox="bubblewrap")

    def break_database() -> None:
        with psycopg.connect(postgres, autocommit=True) as connection:
            connection.execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public")

    drill(stack, break_database)


def test_what_is_wrong_with_a_backup_is_said_and_changes_nothing(tmp_path: Path) -> None:
    stack = Stack(tmp_path, f"sqlite:///{tmp_path}/site.sqlite3", "filesystem://", sandbox="unconfined")
    stack.migrate()
    stack.manage("backup", str(tmp_path / "backups"))
    (made,) = (tmp_path / "backups").glob("[0-9]*")

    def why(*arguments: str) -> str:
        with pytest.raises(subprocess.CalledProcessError) as failed:
            stack.manage("restore", *arguments)
        return str(failed.value.stderr)

    assert "is no backup" in why(str(tmp_path))
    manifest = made / "manifest.json"
    whole = manifest.read_text()
    manifest.write_text(whole.replace('"sqlite"', '"postgresql"'))
    assert "is of postgresql" in why(str(made))
    manifest.write_text(whole.replace('"problems.0001_initial"', '"problems.9999_of_tomorrow"'))
    assert "9999_of_tomorrow" in why(str(made))
    manifest.write_text(whole)
    (made / "database.sqlite3").write_bytes((made / "database.sqlite3").read_bytes() + b"x")
    assert "digest differs" in why(str(made))

    damaged = tmp_path / "site/blobs/ab/cd" / ("ab" * 32)
    damaged.parent.mkdir(parents=True)
    damaged.write_text("not what its name says")
    with pytest.raises(subprocess.CalledProcessError) as failed:
        stack.manage("backup", str(tmp_path / "backups"))
    assert damaged.name in str(failed.value.stderr)
    assert list((tmp_path / "backups").glob("[0-9]*")) == [made], "a backup that failed leaves nothing"
