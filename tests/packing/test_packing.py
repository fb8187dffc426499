"""The site's worker packs uploads: in a sandbox, within bounds, and a worker that is killed leaves nothing stuck."""

import io
import os
import signal
import subprocess
import sys
import threading
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from leaderboard import blobs
from leaderboard.actions.problems import pack_uploads
from leaderboard.errors import Refused
from leaderboard.models import AuditEntry, Packing
from leaderboard.packing import ground, step
from leaderboard.packing.process import Stopped, run_podium
from problems.formats.compute_eval.packs import read_problem_pack
from problems.formats.packing_events import Failed, PackingKind
from runners.fleet import tasks
from tests.formats.functions.definitions import SOFTMAX
from tests.packing.uploads import CHECKOUT, FUNCTIONS, STATEMENT, now, uploaded
from tests.requirements import requires

pytestmark = [pytest.mark.django_db, pytest.mark.rest]
confined = requires("bubblewrap")


@pytest.fixture(autouse=True)
def bubblewrap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PODIUM_SANDBOX", "bubblewrap")


def packs_made(packing: Packing) -> list[str]:
    with blobs.uploads().open(packing.pack_sha256) as file:
        return [one.problem.task_id for one in read_problem_pack(io.BytesIO(file.read())).records]


def with_definition(text: str) -> dict[str, str]:
    return {"mine/row-softmax/def.py": text, "mine/row-softmax/problem.md": STATEMENT}


@confined
def test_function_problems_become_a_pack(cast: Any) -> None:
    made = uploaded(cast.organiser, FUNCTIONS)
    archive = made.archive_sha256
    assert step.pack_next()
    made = now(made)
    assert (made.state, made.faults, made.n_problems) == ("done", [], 1)
    assert packs_made(made) == ["row-softmax"]
    assert not blobs.uploads().has(archive)
    assert not step.pack_next()


def test_a_checkout_becomes_a_pack_and_what_it_leaves_out_is_noted(cast: Any) -> None:
    odd = {"pmpp/eval-tasks/ch05-odd/README.md": "no Makefile", "pmpp/eval-tasks/ch05-scale/big.o": "\0"}
    made = uploaded(cast.organiser, CHECKOUT | odd, PackingKind.PMPP)
    step.pack_next()
    made = now(made)
    assert (made.state, made.faults, made.n_problems) == ("done", [], 1)
    assert len(packs_made(made)) == 1
    assert any("Left out." in one and "ch05-odd" in one for one in made.notes)
    assert any("big.o is not imported" in one for one in made.notes)


@confined
def test_every_fault_is_told_by_the_names_of_the_archive(cast: Any) -> None:
    bad = {
        **FUNCTIONS, "mine/b/def.py": "def f(:\n", "mine/b/problem.md": STATEMENT.replace("row-softmax", "b"),
        "mine/c/def.py": SOFTMAX,
    }  # fmt: skip
    made = uploaded(cast.organiser, bad)
    step.pack_next()
    made = now(made)
    assert made.state == "failed"
    assert len(made.faults) == 2
    assert made.faults[0].startswith("b/def.py line 1")
    assert "c/problem.md is missing" in made.faults[1]


SPY = """
import glob, os, urllib.request
found = [repr(dict(os.environ))]
for path in [{secret!r}, "/etc/shadow", *glob.glob("/proc/*/environ"), *glob.glob("/tmp/**", recursive=True)]:
    try:
        found.append(open(path, "rb").read().decode(errors="replace"))
    except OSError:
        pass
try:
    reached = urllib.request.urlopen("http://127.0.0.1:{port}/livez", timeout=2).status
except OSError:
    reached = "nothing"
leaks = [one for one in found if "the-sites-" + "key" in one]
raise ValueError(f"LOOKED {{len(found) > 1}}, saw {{leaks}}, {{os.path.exists({secret!r})}}, reached {{reached}}")
"""


@confined
def test_a_hostile_definition_sees_nothing_of_the_site(
    cast: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, live_server: Any
) -> None:
    secret = tmp_path / "secret"
    secret.write_text("the-sites-key")
    for name in ("PODIUM_SECRET_KEY", "DATABASE_URL", "PODIUM_BROKER_URL"):
        monkeypatch.setenv(name, "the-sites-key")
    port = live_server.url.rpartition(":")[2]
    made = uploaded(cast.organiser, with_definition(SPY.format(secret=str(secret), port=port)))
    step.pack_next()
    made = now(made)
    assert (made.state, made.code) == ("failed", "bad_definition")
    assert "LOOKED True, saw [], False, reached nothing" in made.faults[0]


@confined
def test_a_definition_without_end_is_stopped_and_told(cast: Any, settings: Any) -> None:
    settings.PACKING_PROBLEM_SECONDS = 2
    made = uploaded(cast.organiser, with_definition("while True: pass\n"))
    step.pack_next()
    assert now(made).state == "failed"
    assert "took longer than 2 s" in now(made).faults[0]


@confined
def test_a_definition_that_takes_all_memory_is_stopped(cast: Any, settings: Any) -> None:
    settings.PACKING_MEMORY_MIB = 256
    settings.PACKING_PROBLEM_SECONDS = 30
    made = uploaded(cast.organiser, with_definition("held = bytearray(b'x' * (1 << 20)) * 2000\n"))
    step.pack_next()
    made = now(made)
    assert (made.state, made.code) in {("failed", "memory_exceeded"), ("failed", "bad_definition")}, made.faults


def children() -> set[str]:
    """Command lines of the processes that pack now."""
    found = set()
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().decode(errors="replace")
        except OSError:
            continue
        if "uploads\0pack" in words or "make_manifest" in words:
            found.add(f"{path.parent.name} {words}")
    return found


@confined
def test_the_whole_packing_has_an_end_and_leaves_no_process(cast: Any, settings: Any) -> None:
    settings.PACKING_SECONDS = 3
    before = children()
    made = uploaded(cast.organiser, with_definition("while True: pass\n"))
    step.pack_next()
    made = now(made)
    assert (made.state, made.code) == ("failed", "timed_out")
    assert "took longer than 3 s" in made.faults[0]
    until = time.monotonic() + 10
    while children() - before and time.monotonic() < until:
        time.sleep(0.1)
    assert children() - before == set()


def test_a_checkout_that_is_slow_to_read_is_stopped(cast: Any, settings: Any) -> None:
    """An expression over strings takes quadratic time here: hours."""
    settings.PACKING_SECONDS = 2
    harness = CHECKOUT["pmpp/eval-tasks/ch05-scale/test_scale.cu"] + 'const char* x = "' + '\\"' * 1_000_000 + "\n"
    files = CHECKOUT | {"pmpp/eval-tasks/ch05-scale/test_scale.cu": harness}
    made = uploaded(cast.organiser, files, PackingKind.PMPP)
    began = time.monotonic()
    step.pack_next()
    assert time.monotonic() - began < 12
    assert (now(made).state, now(made).code) == ("failed", "timed_out")


@confined
def test_a_statement_that_grows_when_it_is_read_is_refused(cast: Any, settings: Any) -> None:
    """Eight aliases of eight of … of eight words: a title of gigabytes."""
    settings.PACKING_SECONDS = 20
    levels = [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 8)}]" for n in range(1, 10)]
    bomb = "\n".join(["---", "author: &a0 [lol]", "gpus:", *(f"  {one}" for one in levels), "title: *a9", "---", "x"])
    made = uploaded(cast.organiser, {"mine/b/def.py": SOFTMAX, "mine/b/problem.md": bomb})
    step.pack_next()
    made = now(made)
    assert (made.state, made.code) == ("failed", "bad_yaml"), made.faults
    assert made.faults == ["b/problem.md: with its aliases written out it has over 4 MiB"]


def test_a_machine_without_a_sandbox_says_so_and_how_to_mend_it(cast: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PODIUM_SANDBOX", "unconfined")
    made = uploaded(cast.organiser, FUNCTIONS)
    tasks.pack()
    made = now(made)
    assert (made.state, made.code) == ("failed", "no_sandbox")
    assert "hides nothing of this machine" in made.faults[0]
    found = ground.known()
    assert found is not None
    assert "Set it to `bubblewrap` or `docker`" in found.why_not
    monkeypatch.setenv("PODIUM_SANDBOX", "bubblewrap")
    ground.forget()
    ground.look()
    found = ground.known()
    assert found is not None


@pytest.mark.both_databases
def test_a_packing_is_delivered_twice_and_done_once(cast: Any) -> None:
    made = uploaded(cast.organiser, CHECKOUT, PackingKind.PMPP)
    held = pack_uploads.take()
    assert held is not None
    assert pack_uploads.take() is None
    assert not step.pack_next()
    assert now(made).state == "packing"
    assert pack_uploads.finish(held, b"pack", 1, [])
    assert not pack_uploads.finish(held, b"other pack", 2, [])
    assert not pack_uploads.fail(held, Failed(code="late", faults=["late"]))
    assert (now(made).state, now(made).n_problems) == ("done", 1)


@pytest.mark.both_databases
def test_a_lost_packing_is_queued_again_and_fails_after_three_workers(cast: Any) -> None:
    made = uploaded(cast.organiser, CHECKOUT, PackingKind.PMPP)
    for n in range(1, 4):
        held = pack_uploads.take()
        assert held is not None
        pack_uploads.sweep_packings()
        assert now(made).state == "packing"  # its lease holds
        Packing.objects.update(lease_expires_at=timezone.now() - timedelta(seconds=1))
        tasks.sweep()
        assert now(made).state == ("queued" if n < 3 else "failed")
        assert not pack_uploads.beat(held)
        assert not pack_uploads.finish(held, b"late", 1, [])
    assert now(made).code == "worker_lost"
    assert "ended 3 times" in now(made).faults[0]
    pack_uploads.retry(cast.organiser, now(made))
    step.pack_next()
    assert now(made).state == "done"
    with pytest.raises(Refused, match="has not failed"):
        pack_uploads.retry(cast.organiser, now(made))


def test_a_worker_that_ends_in_good_order_gives_its_packing_back(cast: Any) -> None:
    made = uploaded(cast.organiser, CHECKOUT, PackingKind.PMPP)
    tasks._end_packing()
    try:
        step.pack_next()
    finally:
        step.ENDING.clear()
    assert (now(made).state, now(made).n_lost) == ("queued", 0)


@confined
def test_an_upload_that_is_removed_stops_its_packing(cast: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    made = uploaded(cast.organiser, with_definition("while True: pass\n"))
    monkeypatch.setattr(step, "BEAT_SECONDS", 0.2)
    beat = pack_uploads.beat

    def removed_meanwhile(held: Packing) -> bool:
        if held.n_begun:
            pack_uploads.remove(cast.organiser, made)
        return beat(held)

    monkeypatch.setattr(pack_uploads, "beat", removed_meanwhile)
    began = time.monotonic()
    step.pack_next()
    assert time.monotonic() - began < 30
    assert not Packing.objects.exists()
    assert not blobs.uploads().has(made.archive_sha256)


LOOP = """
import sys
from pathlib import Path
from leaderboard.packing.process import run_podium
run_podium(sys.argv[2:], Path(sys.argv[1]), 60, lambda _events: True)
"""


@confined
def test_the_process_ends_with_a_worker_that_is_killed(tmp_path: Path) -> None:
    from tests.packing.uploads import zipped

    archive = tmp_path / "mine.zip"
    archive.write_bytes(zipped(with_definition("while True: pass\n")))
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder").chmod(0o711)
    before = children()
    arguments = ["pack", str(archive), "--as", "functions", "--out", str(tmp_path / "out"), "--release", "x"]
    worker = subprocess.Popen([sys.executable, "-c", LOOP, str(tmp_path / "folder"), *arguments])
    until = time.monotonic() + 30
    while not any("make_manifest" in one for one in children() - before) and time.monotonic() < until:
        time.sleep(0.1)
    assert children() - before
    os.kill(worker.pid, signal.SIGKILL)
    worker.wait()
    while children() - before and time.monotonic() < until:
        time.sleep(0.1)
    assert children() - before == set()


@pytest.mark.both_databases
def test_old_uploads_and_their_files_are_swept_and_shared_files_stay(cast: Any) -> None:
    old = uploaded(cast.organiser, CHECKOUT, PackingKind.PMPP)
    young = uploaded(cast.organiser, CHECKOUT, PackingKind.PMPP)
    assert old.archive_sha256 == young.archive_sha256
    Packing.objects.filter(pk=old.pk).update(created_at=timezone.now() - timedelta(days=3))
    tasks.sweep()
    assert list(Packing.objects.all()) == [young]
    assert blobs.uploads().has(young.archive_sha256)
    Packing.objects.update(created_at=timezone.now() - timedelta(days=3))
    tasks.sweep()
    assert not Packing.objects.exists()
    assert not blobs.uploads().has(young.archive_sha256)


@pytest.mark.both_databases
def test_uploads_are_bounded_checked_and_audited(cast: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Refused, match=r"no def\.py among its"):
        uploaded(cast.organiser, CHECKOUT)
    with pytest.raises(Refused, match="no Makefile among its"):
        uploaded(cast.organiser, FUNCTIONS, PackingKind.PMPP)
    with pytest.raises(Refused, match="Only an organiser"):
        uploaded(cast.stranger, FUNCTIONS)
    monkeypatch.setattr(pack_uploads, "MOST_KEPT", 1)
    made = uploaded(cast.organiser, FUNCTIONS)
    with pytest.raises(Refused, match="Remove one"):
        uploaded(cast.organiser, FUNCTIONS)
    assert AuditEntry.objects.get(action="upload to pack").actor == cast.organiser
    pack_uploads.remove(cast.organiser, made)
    assert AuditEntry.objects.filter(action="remove upload").exists()


def test_a_file_that_is_gone_fails_with_words(cast: Any) -> None:
    made = uploaded(cast.organiser, CHECKOUT, PackingKind.PMPP)
    blobs.uploads().delete(made.archive_sha256)
    step.pack_next()
    assert (now(made).state, "Upload it again" in now(made).faults[0]) == ("failed", True)


def test_a_process_that_dies_without_words_is_told_by_its_last_line(tmp_path: Path) -> None:
    ended = run_podium(["no-such-command"], tmp_path, 30, lambda _events: True)
    assert isinstance(ended, Failed)
    assert (ended.code, "exit status 2" in ended.faults[0]) == ("no_result", True)


def test_nobody_waits_for_a_process_that_is_not_wanted(tmp_path: Path) -> None:
    done = threading.Event()
    with pytest.raises(Stopped):
        run_podium(["check"], tmp_path, 30, lambda _events: done.is_set())
