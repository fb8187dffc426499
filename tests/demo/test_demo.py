"""The demo's own parts: what its entrants send, and how it refuses to start where it cannot run."""

import io
import os
import shutil
import socket
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from demo.entrants import load_entrants, solution_pack
from demo.environment import DemoRefused, _check_port, chosen_port
from demo.packs import write_packs
from problems.formats.compute_eval.directory import read_problem_directory
from problems.formats.submission import Catalogue, read_submission

PYTHON = Path(sys.executable).resolve()
ROOT = Path(__file__).resolve().parents[2]
RELEASE = read_problem_directory(ROOT / "examples" / "demo")
TASK_IDS = {record.problem.task_id.replace("/", "-"): record.problem.task_id for record in RELEASE.records}


@pytest.mark.parametrize("entrant", load_entrants(ROOT / "examples" / "demo" / "entrants"), ids=lambda one: one.slug)
def test_an_entrant_sends_every_sample_that_it_has(entrant) -> None:
    pack = solution_pack(entrant, RELEASE.metadata.release, TASK_IDS)
    draft = read_submission(io.BytesIO(pack), "demo-solutions.tar.gz", Catalogue.of_pack(RELEASE))
    never_sent = [key for key, verdict in entrant.expected.items() if verdict == "invalid"]
    assert len(draft.samples) == len(entrant.expected) - len(never_sent)
    assert not [sample.invalid_reason for sample in draft.samples if sample.invalid_reason]


def test_what_python_compiled_beside_a_solution_is_not_sent(tmp_path: Path) -> None:
    entrant = load_entrants(ROOT / "examples" / "demo" / "entrants")[0]
    before = solution_pack(entrant, RELEASE.metadata.release, TASK_IDS)
    copied = replace(entrant, folder=Path(shutil.copytree(entrant.folder, tmp_path / "copy")))
    for file in list(copied.folder.rglob("*.*")):
        cache = file.parent / "__pycache__"
        cache.mkdir(exist_ok=True)
        (cache / "solution.cpython-311.pyc").write_bytes(b"\xa7\r\r\n")
    assert solution_pack(copied, RELEASE.metadata.release, TASK_IDS) == before


def test_sending_again_is_the_same_submission() -> None:
    entrant = load_entrants(ROOT / "examples" / "demo" / "entrants")[0]
    packs = {solution_pack(entrant, RELEASE.metadata.release, TASK_IDS) for _ in range(2)}
    assert len(packs) == 1


def test_a_port_in_use_is_named_with_the_next_one() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(DemoRefused, match=f"Port {port} .* make demo PORT={port + 1}"):
            _check_port(port, port + 1)


@pytest.mark.parametrize("port", ["abc", "0", "70000"])
def test_what_is_no_port_is_refused_with_an_example(port: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PORT", port)
    with pytest.raises(DemoRefused, match=f"PORT is '{port}'.*make demo PORT=9000"):
        chosen_port()


def missing_on_a_bare_path(tmp_path: Path, *present: str) -> subprocess.CompletedProcess[str]:
    """Runs the prerequisites' check where only these programs can be found."""
    for name in ("sh", *present):
        (tmp_path / name).symlink_to(PYTHON if name == "python3" else shutil.which(name) or name)
    command = [str(tmp_path / "sh"), str(ROOT / "scripts" / "prerequisites.sh")]
    environment = {"PATH": str(tmp_path), "HOME": os.environ.get("HOME", "/")}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_what_is_missing_is_named_with_the_command_that_mends_it(tmp_path: Path) -> None:
    done = missing_on_a_bare_path(tmp_path, "git", "make")
    assert done.returncode == 1
    assert "sudo apt-get install g++ python3 python3-venv" in done.stderr


def test_where_nothing_is_missing_the_python_to_use_is_printed(tmp_path: Path) -> None:
    done = missing_on_a_bare_path(tmp_path, "git", "make", "g++", "python3")
    assert (done.returncode, done.stdout) == (0, "python3\n")


def test_each_demo_entrant_gets_a_pack_for_grading_elsewhere(tmp_path: Path) -> None:
    made = write_packs(ROOT / "examples" / "demo", tmp_path)
    assert [path.name for path in made] == [
        "demo-novice-solutions.tar.gz", "demo-steady-solutions.tar.gz", "demo-tuned-solutions.tar.gz",
    ]  # fmt: skip
    with made[2].open("rb") as file:
        draft = read_submission(file, made[2].name, Catalogue.of_pack(RELEASE))
    assert (len(draft.samples), draft.full) == (32, True)


KILLED_HONCHO = """
import os, signal, sys, time
from pathlib import Path
from demo.services import Services
folder = Path(sys.argv[1])
with Services(folder / "log", 1, folder / "Procfile") as services:
    while not (folder / "pid").exists() or not (folder / "pid").read_text():
        time.sleep(0.05)
    os.kill(services._honcho.pid, signal.SIGKILL)
    services._honcho.wait()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="orphans are adopted on Linux alone")
def test_a_honcho_that_is_killed_leaves_no_service(tmp_path: Path) -> None:
    (tmp_path / "Procfile").write_text(f"worker: echo $$ > {tmp_path}/pid; exec sleep 600\n")
    subprocess.run([sys.executable, "-c", KILLED_HONCHO, str(tmp_path)], cwd=ROOT, check=True, timeout=60)
    pid = int((tmp_path / "pid").read_text())
    assert not Path(f"/proc/{pid}").exists()
