"""`podium slurm` on a real slurmctld and slurmd: nodes are submitted, join, judge in rootless bubblewrap, and end."""

import subprocess
from pathlib import Path

import pytest

from tests.e2e.processes import ROOT
from tests.e2e.slurm_cluster import SlurmCluster
from tests.e2e.stack import BIN, Stack
from tests.packs import problem, solution
from tests.requirements import requires

pytestmark = [pytest.mark.faults, requires("bubblewrap"), requires("slurm")]
SCRAPER = "of-the-scraper"


class OnSlurm(Stack):
    """A site whose nodes are jobs of the cluster."""

    cluster: SlurmCluster
    join_token = ""

    @property
    def environment(self) -> dict[str, str]:
        return super().environment | {"PODIUM_METRICS_TOKEN": SCRAPER}

    def start_node(self, name: str) -> None:
        made = self.manage("add_join_token", "slurm", "--track", "cpu-test", "--nodes", "4", "--days", "1")
        self.join_token = made.split()[-1]

    def submit_nodes(self, *options: str) -> str:
        """Run `podium slurm` once; returns the line that it says."""
        own = {"PODIUM_JOIN_TOKEN": self.join_token, "PODIUM_SANDBOX": self.sandbox}
        environment = self.environment | self.cluster.variables | own
        environment["PATH"] = f"{BIN}:{environment['PATH']}"
        environment.pop("DATABASE_URL")
        words = ["--track", "cpu-test", "--jobs", "4", "--most", "2", "--until-idle", "3", "--grace", "5", *options]
        command = [str(BIN / "podium"), "slurm", *words, "--", f"--output={self.folder}/slurm-%a.log"]
        ran = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, check=False)
        assert ran.returncode == 0, ran.stderr
        return ran.stderr.strip()


@pytest.fixture
def stack(tmp_path: Path, request: pytest.FixtureRequest) -> OnSlurm:
    folder = tmp_path / "site"
    made = OnSlurm(
        folder, f"sqlite:///{tmp_path}/site.sqlite3", f"filesystem://{tmp_path}/broker", sandbox="bubblewrap"
    )
    folder.mkdir()
    made.cluster = SlurmCluster(tmp_path / "slurm")
    request.addfinalizer(made.cluster.stop)
    request.addfinalizer(made.stop)
    request.addfinalizer(lambda: made.cluster.ask("scancel", "--name=podium-cpu-test-both"))
    return made


def test_nodes_come_with_the_queue_and_end_with_it(stack: OnSlurm) -> None:
    cluster = stack.cluster
    cluster.start()
    stack.start([problem("a/1")])
    assert stack.submit_nodes() == "0 open jobs, 0 nodes: submitted nothing"
    submission = stack.submit([solution("a/1", f"sleep 0.3; exit {n % 2}") for n in range(12)])
    assert stack.submit_nodes().startswith("12 open jobs, 0 nodes: submitted 2 as job ")
    assert stack.submit_nodes().endswith("2 nodes: submitted nothing")
    stack.wait_for(submission)
    stack.wait_until(lambda: cluster.jobs("PENDING", "RUNNING", "COMPLETING") == [], "the nodes have ended")
    assert cluster.jobs("COMPLETED") == ["podium-cpu-test-both"] * 2
    assert stack.states(submission) == {"done": 12}
    assert stack.submit_nodes() == "0 open jobs, 0 nodes: submitted nothing"


def test_a_cancelled_node_gives_its_work_back_and_the_next_one_ends_it(stack: OnSlurm) -> None:
    cluster = stack.cluster
    cluster.start()
    stack.start([problem("a/1")])
    submission = stack.submit([solution("a/1", f"sleep 0.5; exit {n % 2}") for n in range(12)])
    stack.submit_nodes("--most", "1")
    stack.wait_until(lambda: stack.states(submission).get("done", 0) >= 2, "the node works")
    cluster.ask("scancel", "--batch", "--signal=TERM", "--name=podium-cpu-test-both")
    stack.wait_until(lambda: cluster.jobs("PENDING", "RUNNING", "COMPLETING") == [], "the node has ended")
    assert stack.states(submission).get("done", 0) < 12
    assert "submitted 1 as job" in stack.submit_nodes("--most", "1")
    stack.wait_for(submission)
    assert stack.states(submission) == {"done": 12}
