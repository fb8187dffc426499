"""deploy/systemd: systemd itself reads the units, and says how much each leaves open."""

import re
import shutil
import subprocess
from configparser import ConfigParser
from pathlib import Path

import pytest

UNITS = Path(__file__).resolve().parents[2] / "deploy/systemd"
SERVICES = sorted(UNITS.glob("*.service"))
MOST_EXPOSED = {"podium-node.service": 5.5}
"""systemd's own measure, 0 to 10: a node makes namespaces and uses devices."""
needs_systemd = pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="there is no systemd-analyze")


def options(unit: Path) -> dict[str, str]:
    read = ConfigParser(strict=False, interpolation=None)
    read.optionxform = str  # type: ignore[assignment, method-assign]
    read.read(unit, encoding="utf-8")
    return dict(read["Service"])


@pytest.fixture
def units(tmp_path: Path) -> Path:
    """The units with /bin/true for their programs and no users, which this machine lacks."""
    for unit in UNITS.iterdir():
        text = re.sub(r"/opt/podium/bin/[a-z-]+", "/bin/true", unit.read_text(encoding="utf-8"))
        (tmp_path / unit.name).write_text(re.sub(r"(?m)^(User|Group)=.*\n", "", text), encoding="utf-8")
    return tmp_path


@needs_systemd
def test_systemd_understands_every_line(units: Path) -> None:
    names = sorted(unit.name for unit in units.iterdir())
    command = ["systemd-analyze", "verify", "--man=no", *(f"./{name}" for name in names)]
    read = subprocess.run(command, cwd=units, capture_output=True, text=True, check=False)
    assert [line for line in read.stderr.splitlines() if "podium" in line] == []


@needs_systemd
@pytest.mark.parametrize("unit", SERVICES, ids=lambda unit: unit.name)
def test_little_is_left_open(unit: Path, units: Path) -> None:
    command = ["systemd-analyze", "security", "--offline=yes", f"./{unit.name}"]
    read = subprocess.run(command, cwd=units, capture_output=True, text=True, check=False)
    exposure = re.search(r"exposure level for .*: ([\d.]+)", read.stdout)
    assert exposure, read.stderr
    assert float(exposure[1]) <= MOST_EXPOSED.get(unit.name, 2.0)


@pytest.mark.parametrize("unit", SERVICES, ids=lambda unit: unit.name)
def test_no_service_runs_as_root_or_gains_rights(unit: Path) -> None:
    read = options(unit)
    assert read["User"] == ("podium-node" if unit.name == "podium-node.service" else "podium")
    assert (read["NoNewPrivileges"], read["CapabilityBoundingSet"]) == ("yes", "")


def test_a_node_keeps_what_bubblewrap_and_a_gpu_need() -> None:
    masks_proc = {"ProtectKernelTunables", "ProtectKernelLogs", "ProtectProc", "ProcSubset"}
    hides_devices = {"ProtectClock", "PrivateDevices"}
    assert (masks_proc | hides_devices).isdisjoint(options(UNITS / "podium-node.service"))
