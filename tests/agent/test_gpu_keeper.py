"""The keeper: what drains a node, what the site hears, how a node comes back. Its GPUs are scripted, as CI has none."""

import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from runners.agent.devices import keeper as keeper_module
from runners.agent.devices.keeper import Keeper, Unwatched
from runners.agent.devices.lanes import Lanes
from runners.agent.devices.ledger import Ledger
from runners.agent.devices.tool import DeviceFailed, Golden, MeasuredPeaks, Scrubbed
from runners.agent.ground.errors import SandboxFault, SiteUnavailable
from runners.wire.health import NodeHealth, NodeHealthReply
from runners.wire.protocol import GpuCapability, Peaks
from tests.patience import SOON, until

UUID = "GPU-0aa00000-0000-0000-0000-00000000000a"
OTHER = "GPU-0bb00000-0000-0000-0000-00000000000b"
PEAKS = Peaks(gbps=4000.0, gflops={"fp16": 700_000.0}, l2_bytes=60 << 20)


class ScriptedTool:
    """Golden times of its device, and what fails."""

    version = "gpu-1"

    def __init__(self) -> None:
        self.compute_ms = 5.0
        self.broken = ""
        self.scrubbed: list[str] = []
        self.n_golden = self.n_peaks = 0

    def scrub(self, uuid: str) -> Scrubbed:
        self._may_fail()
        self.scrubbed.append(uuid)
        return Scrubbed(1 << 30, 100.0)

    def golden(self, uuid: str) -> Golden:
        self._may_fail()
        self.n_golden += 1
        return Golden((self.compute_ms,) * 6, (0.5,) * 6)

    def peaks(self, uuid: str) -> MeasuredPeaks:
        self._may_fail()
        self.n_peaks += 1
        return MeasuredPeaks(PEAKS, 4200.0, {"fp16": "cuBLAS"}, {"fp8": "status 15"})

    def _may_fail(self) -> None:
        if self.broken:
            raise DeviceFailed(self.broken)


class ScriptedDevices:
    def __init__(self) -> None:
        self.troubles: dict[str, str] = {}
        self.is_idle = True

    def trouble(self, uuid: str) -> str:
        return self.troubles.get(uuid, "")

    def idle(self, uuid: str, timeout_seconds: float) -> bool:
        return self.is_idle

    def process_ids(self, uuid: str) -> list[int]:
        return [] if self.is_idle else [os.getpid()]


class Node:
    """A keeper between scripted GPUs and a scripted site, as one life of a node's process."""

    def __init__(self, folder: Path, uuids: tuple[str, ...] = (UUID,), driver: str = "580.1") -> None:
        self.tool, self.devices = ScriptedTool(), ScriptedDevices()
        self.heard: list[NodeHealth] = []
        self.disabled_reason = ""
        self.away = False
        self.drained: list[str] = []
        self.resumed = threading.Event()
        gpus = [GpuCapability(uuid=uuid, name="H200", compute_capability="9.0", driver=driver) for uuid in uuids]
        self.keeper = Keeper(self.devices, gpus, self.tool, Ledger(folder), self._hear)
        self.lanes = Lanes(1, 2, uuids, self.keeper.clean)
        self.keeper.begin(self.lanes)

    def _hear(self, said: NodeHealth) -> NodeHealthReply:
        if self.away:
            raise SiteUnavailable("away")
        self.heard.append(NodeHealth.model_validate_json(said.model_dump_json()))
        self.disabled_reason = self.disabled_reason or said.drain
        return NodeHealthReply(disabled_reason=self.disabled_reason)

    def start(self) -> None:
        self.keeper.start(self.drained.append, self.resumed.set)

    def golden(self, times: int = 1) -> None:
        """The hourly run, now."""
        for _ in range(times):
            self.keeper._run_golden(UUID)


@pytest.fixture
def begin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Node]]:
    monkeypatch.setattr(keeper_module, "LOOK_SECONDS", 0.02)
    nodes: list[Node] = []

    def make(**how: Any) -> Node:
        nodes.append(Node(tmp_path / "gpus", **how))
        return nodes[-1]

    yield make
    for node in nodes:
        node.keeper.stop()


def wait_until(true: Callable[[], Any]) -> None:
    assert until(true), "it did not come about"


def test_at_start_the_site_hears_golden_times_and_peaks(begin: Callable[..., Node]) -> None:
    node = begin()
    node.start()
    wait_until(lambda: node.heard)
    said = node.heard[0]
    assert [(one.gpu_uuid, one.name, one.median_ms, one.drift) for one in said.golden] == [
        (UUID, "compute", 5.0, None),
        (UUID, "copy", 0.5, None),
    ]
    assert said.peaks[0].peaks == PEAKS
    assert said.peaks[0].how == {"fp16": "cuBLAS", "fp8": "status 15"}
    assert said.drain == ""
    assert node.keeper.peaks_of(UUID) == PEAKS
    assert node.drained == []


def test_what_was_said_is_not_said_again(begin: Callable[..., Node]) -> None:
    node = begin()
    node.start()
    wait_until(lambda: node.heard)
    time.sleep(0.1)
    assert len(node.heard) == 1


def test_a_site_that_is_away_hears_it_later(begin: Callable[..., Node]) -> None:
    node = begin()
    node.away = True
    node.start()
    time.sleep(0.1)
    node.away = False
    wait_until(lambda: node.heard)
    assert len(node.heard[0].golden) == 2


def test_two_slow_runs_drain_the_node_and_the_site_hears_why(begin: Callable[..., Node]) -> None:
    node = begin()
    node.golden(times=5)
    node.start()
    node.tool.compute_ms = 5.3
    node.golden()
    assert node.drained == []
    node.golden()
    assert len(node.drained) == 1
    assert "golden compute took 5.300 ms, +6.0%" in node.drained[0]
    wait_until(lambda: any(said.drain == node.drained[0] for said in node.heard))


def test_golden_times_outlive_the_process(begin: Callable[..., Node]) -> None:
    begin().golden(times=5)
    node = begin()
    node.start()
    node.tool.compute_ms = 5.3
    node.golden(times=2)
    assert node.drained


def test_another_driver_begins_a_new_history(begin: Callable[..., Node]) -> None:
    begin().golden(times=5)
    node = begin(driver="590.1")
    node.start()
    node.tool.compute_ms = 5.3
    node.golden(times=2)
    assert node.drained == []


def test_a_history_that_cannot_be_read_is_begun_anew(begin: Callable[..., Node], tmp_path: Path) -> None:
    begin()
    (page,) = (tmp_path / "gpus").glob("*.json")
    page.write_text("{half")
    assert begin().keeper.complaint() == ""


def test_a_history_that_cannot_be_stored_stops_nothing(begin: Callable[..., Node], tmp_path: Path) -> None:
    node = begin()
    shutil.rmtree(tmp_path / "gpus")
    (tmp_path / "gpus").write_bytes(b"no folder: as on a full disk, no file can be made")
    node.golden()
    assert node.keeper.complaint() == ""


def test_peaks_are_measured_once_a_week(begin: Callable[..., Node]) -> None:
    assert begin().tool.n_peaks == 1
    again = begin()
    assert again.tool.n_peaks == 0
    assert again.keeper.peaks_of(UUID) == PEAKS
    assert begin(driver="590.1").tool.n_peaks == 1


def test_trouble_drains_the_node_within_a_look(begin: Callable[..., Node]) -> None:
    node = begin()
    node.start()
    node.devices.troubles[UUID] = "Xid 79: the GPU has fallen off the bus"
    wait_until(lambda: node.drained)
    assert node.drained == [f"{UUID}: Xid 79: the GPU has fallen off the bus"]


def test_a_look_that_fails_is_not_the_last(begin: Callable[..., Node], monkeypatch: pytest.MonkeyPatch) -> None:
    node = begin()
    looks: list[str] = []

    def trouble(uuid: str) -> str:
        looks.append(uuid)
        if len(looks) < 3:
            raise LookupError("a bug")
        return "Xid 79"

    monkeypatch.setattr(node.devices, "trouble", trouble)
    node.start()
    wait_until(lambda: node.drained)


def test_trouble_is_looked_for_when_a_job_has_failed(begin: Callable[..., Node]) -> None:
    node = begin()
    assert node.keeper.complaint() == ""
    node.devices.troubles[UUID] = "Xid 48: double bit ECC error"
    assert "Xid 48" in node.keeper.complaint()


def test_a_gpu_that_cannot_be_scrubbed_faults_the_job_and_drains_the_node(begin: Callable[..., Node]) -> None:
    node = begin()
    node.start()
    node.tool.broken = "podium-gpu scrub gave no answer within 60 s: the device hangs"
    with pytest.raises(SandboxFault, match=r"cannot be cleaned for the next job: .*hangs"):
        node.keeper.clean(UUID)
    assert "hangs" in node.drained[0]


def test_a_gpu_on_which_a_process_stays_is_not_given_to_the_next(begin: Callable[..., Node]) -> None:
    node = begin()
    node.devices.is_idle = False
    with pytest.raises(SandboxFault, match=rf"a process is still on it .*: process {os.getpid()} \("):
        node.keeper.clean(UUID)
    assert node.tool.scrubbed == []


def test_a_clean_gpu_is_scrubbed_for_the_next(begin: Callable[..., Node]) -> None:
    node = begin()
    node.keeper.clean(UUID)
    assert node.tool.scrubbed == [UUID]


def test_the_golden_program_waits_for_a_benchmark(begin: Callable[..., Node]) -> None:
    node = begin()
    with node.lanes.benchmark():
        run = threading.Thread(target=node.golden)
        run.start()
        run.join(0.1)
        assert node.tool.n_golden == 1
    run.join(SOON)
    assert node.tool.n_golden == 2


def test_a_gpu_that_fails_at_the_start_drains_the_node_from_the_start(begin: Callable[..., Node]) -> None:
    node = begin(uuids=(UUID, OTHER))
    node.tool.broken = "the golden program computed wrongly"
    node.keeper.begin(node.lanes)
    node.start()
    assert len(node.drained) == 1
    assert node.drained[0].count("computed wrongly") == 2


def test_a_drained_node_works_again_once_an_organiser_says_so(begin: Callable[..., Node]) -> None:
    node = begin()
    node.golden(times=5)
    node.start()
    node.tool.compute_ms = 5.3
    node.golden(times=2)
    wait_until(lambda: node.disabled_reason)
    time.sleep(0.1)
    assert not node.resumed.is_set()
    node.disabled_reason = ""
    assert node.resumed.wait(SOON)
    assert node.keeper.complaint() == ""
    node.golden(times=7)
    assert len(node.drained) == 1, "the present speed is the new normal"


def test_what_is_still_broken_drains_again(begin: Callable[..., Node]) -> None:
    node = begin()
    node.start()
    node.devices.troubles[UUID] = "Xid 79"
    wait_until(lambda: node.disabled_reason)
    node.devices.troubles[UUID] = ""
    node.tool.broken = "the device hangs"
    node.disabled_reason = ""
    wait_until(lambda: "hangs" in node.disabled_reason)
    assert not node.resumed.is_set()


def test_a_drain_that_the_site_did_not_hear_is_no_leave_to_go_on(begin: Callable[..., Node]) -> None:
    node = begin()
    node.away = True
    node.start()
    node.devices.troubles[UUID] = "Xid 79"
    wait_until(lambda: node.drained)
    time.sleep(0.1)
    node.away = False
    wait_until(lambda: "Xid 79" in node.disabled_reason)
    assert not node.resumed.is_set()


def test_without_nvml_the_golden_program_still_watches(begin: Callable[..., Node], tmp_path: Path) -> None:
    node = begin()
    node.tool.broken = "the golden program computed wrongly"
    gpu = GpuCapability(uuid=UUID, name="H200", compute_capability="9.0")
    keeper = Keeper(Unwatched(), [gpu], node.tool, Ledger(tmp_path / "unwatched"), node._hear)
    keeper.begin(node.lanes)
    assert "computed wrongly" in keeper.complaint()
