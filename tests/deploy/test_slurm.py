"""`podium slurm` with stand-ins for Slurm's programs, which keep their arguments."""

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from podium.slurm import QueueBounds

TOKEN = "of-the-scraper"


class Count(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        allowed = self.headers["Authorization"] == f"Bearer {TOKEN}"
        known = self.path == "/metrics/jobs?track=cpu&stage=both"
        self.send_response(200 if allowed and known else 403)
        self.end_headers()
        self.wfile.write(json.dumps({"open": 20}).encode())

    def log_message(self, *_: object) -> None:
        return


@pytest.fixture
def site() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Count)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


@pytest.fixture
def cluster(tmp_path: Path) -> Path:
    """squeue lists the lines of `there`. sbatch keeps arguments, script and environment."""
    for name, lines in {
        "squeue": '/bin/cat "${0%/*}/there"',
        "sbatch": 'cd "${0%/*}" && echo "$@" >arguments && /bin/cat >script && /usr/bin/env >environment && echo 77',
    }.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{lines}\n", encoding="utf-8")
        (tmp_path / name).chmod(0o755)
    (tmp_path / "there").touch()
    return tmp_path


def run(cluster: Path, site: str, *options: str, token: str = TOKEN) -> "subprocess.CompletedProcess[str]":
    environ = {
        "PATH": str(cluster), "HOME": str(cluster),
        "PODIUM_SITE_URL": site, "PODIUM_METRICS_TOKEN": token, "PODIUM_JOIN_TOKEN": "join",
    }  # fmt: skip
    command = [sys.executable, "-m", "podium.cli", "slurm", "--track", "cpu", *options]
    return subprocess.run(command, env=environ, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("n_open", "n_there", "lacking"), [(0, 0, 0), (1, 0, 1), (8, 0, 1), (9, 0, 2), (9, 2, 0), (9, 5, 0), (900, 3, 7)]
)
def test_nodes_follow_the_open_jobs_up_to_the_cap(n_open: int, n_there: int, lacking: int) -> None:
    assert QueueBounds("cpu", "both", jobs=8, most=10).lacking(n_open, n_there) == lacking


def test_an_array_of_the_lacking_nodes_is_submitted(cluster: Path, site: str) -> None:
    (cluster / "there").write_text("5_1\n", encoding="utf-8")
    ran = run(cluster, site, "--jobs", "5", "--grace", "60", "--", "--partition", "short")
    assert (ran.returncode, ran.stderr.strip()) == (0, "20 open jobs, 1 nodes: submitted 3 as job 77")
    arguments = (cluster / "arguments").read_text(encoding="utf-8")
    assert arguments == "--parsable --job-name=podium-cpu-both --array=1-3 --signal=B:TERM@90 --partition short\n"
    assert "node --until-idle 120 --grace 60 &" in (cluster / "script").read_text(encoding="utf-8")


def test_nodes_get_the_join_token_and_not_the_metrics_token(cluster: Path, site: str) -> None:
    run(cluster, site)
    environment = (cluster / "environment").read_text(encoding="utf-8")
    assert "PODIUM_JOIN_TOKEN=join" in environment
    assert TOKEN not in environment


def test_a_node_may_run_in_a_container(cluster: Path, site: str) -> None:
    run(cluster, site, "--within", "apptainer exec --no-home 'my images/node.sif'")
    script = (cluster / "script").read_text(encoding="utf-8")
    assert "\napptainer exec --no-home 'my images/node.sif' podium node --until-idle 120 --grace 300 &\n" in script


def test_words_that_no_shell_could_read_are_refused(cluster: Path, site: str) -> None:
    ran = run(cluster, site, "--within", "apptainer exec 'node.sif")
    assert (ran.returncode, ran.stderr.strip()) == (2, '--within "apptainer exec \'node.sif": No closing quotation')
    assert not (cluster / "arguments").exists()


def test_nothing_is_submitted_twice(cluster: Path, site: str) -> None:
    (cluster / "there").write_text("5_1\n5_2\n5_3\n", encoding="utf-8")
    ran = run(cluster, site, "--jobs", "8")
    assert (ran.returncode, ran.stderr.strip()) == (0, "20 open jobs, 3 nodes: submitted nothing")
    assert not (cluster / "arguments").exists()


def test_a_site_that_refuses_stops_it(cluster: Path, site: str) -> None:
    ran = run(cluster, site, token="another")
    assert ran.returncode == 2
    assert "does not tell its open jobs" in ran.stderr
    assert not (cluster / "arguments").exists()


def test_a_slurm_that_refuses_stops_it(cluster: Path, site: str) -> None:
    (cluster / "sbatch").write_text("#!/bin/sh\necho invalid partition >&2; exit 1\n", encoding="utf-8")
    ran = run(cluster, site)
    assert (ran.returncode, ran.stderr.strip()) == (2, "sbatch: invalid partition")


def test_a_machine_without_slurm_is_told(cluster: Path, site: str, tmp_path: Path) -> None:
    ran = run(tmp_path / "empty", site)
    assert (ran.returncode, ran.stderr.strip()) == (
        2, "squeue is not installed: this is no machine of a Slurm cluster"
    )  # fmt: skip


def test_the_script_passes_the_end_on_and_leaves_nothing(cluster: Path, site: str, tmp_path: Path) -> None:
    run(cluster, site)
    script = (cluster / "script").read_text(encoding="utf-8")
    lines = script.splitlines()
    at = next(index for index, line in enumerate(lines) if " node " in line)
    lines[at] = "(trap 'echo ended; exit 3' TERM; echo $PODIUM_VAR_DIR; while :; do sleep 0.1; done) &"
    shell = subprocess.Popen(["sh", "-c", "\n".join(lines)], stdout=subprocess.PIPE, text=True)
    assert shell.stdout
    folder = Path(shell.stdout.readline().strip())
    assert folder.is_dir()
    shell.terminate()
    assert shell.stdout.readline() == "ended\n"
    assert shell.wait(10) == 3
    assert not folder.exists()
