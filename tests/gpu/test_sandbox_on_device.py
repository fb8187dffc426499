"""The bubblewrap sandbox, the watch and the health checks on a real GPU. Needs neither Django nor a plugin of pytest.

Without a GPU all of it is skipped. By hand, with the values that were measured:
python -m pytest -c /dev/null --rootdir=. --noconftest -q -s tests/gpu/test_sandbox_on_device.py
"""

# ruff: noqa: T201 - with -s the tests print the values that they measure

import importlib.util
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from runners.agent import capabilities
from runners.agent.devices.gpus import Gpus
from runners.agent.devices.keeper import IDLE_SECONDS
from runners.agent.devices.occupants import describe
from runners.agent.devices.record import DeviceRecord
from runners.agent.sandbox.bubblewrap import BubblewrapSandbox, why_unavailable
from runners.agent.sandbox.cages import MemoryLimit, TreeCage
from runners.agent.sandbox.groups import find_place
from runners.agent.sandbox.policy import Command, Limits, Outcome
from runners.agent.sandbox.privilege import FIRST_SLOT_UID
from runners.agent.sandbox.processes import read
from runners.wire.protocol import Witness

PROGRAMS = Path(__file__).parent


def _uuids() -> list[str]:
    if shutil.which("nvidia-smi") is None:
        return []
    command = ["nvidia-smi", "--query-gpu=uuid", "--format=csv,noheader"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.split()


def _owns_groups() -> bool:
    place = find_place(read(Path("/proc/self/mountinfo")), read(Path("/proc/self/cgroup")))
    if isinstance(place, str) or os.geteuid() != 0 or not os.access(place.mount, os.W_OK):
        return False
    return "memory" in read(place.mount / "cgroup.controllers").split()


UUIDS = _uuids()
OWNS_GROUPS = _owns_groups()
pytestmark = [
    pytest.mark.skipif(not UUIDS, reason="needs an NVIDIA GPU"),
    pytest.mark.skipif(bool(UUIDS) and bool(why_unavailable()), reason="needs bubblewrap"),
]
LIMITS = Limits(
    wall_seconds=120,
    memory_bytes=16 << 30,
    processes=512,
    file_bytes=2 << 30,
    workspace_bytes=2 << 30,
    output_bytes=1 << 20,
)
SETTLED_SECONDS = 0.5
REFUSED = 4
"""Exit status of a program to which the driver gave no memory."""
Run = Callable[..., Outcome]


@pytest.fixture(scope="module")
def box() -> BubblewrapSandbox:
    return BubblewrapSandbox()


@pytest.fixture(scope="module")
def watching() -> BubblewrapSandbox:
    """As on a machine without control groups."""
    return BubblewrapSandbox(memory_limit=MemoryLimit("watcher", lambda limits: TreeCage(limits.memory_bytes)))


@pytest.fixture(scope="module")
def gpus() -> Iterator[Gpus]:
    opened = Gpus.open()
    assert opened is not None
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def built(box: BubblewrapSandbox, gpus: Gpus) -> Iterator[Path]:
    """The programs, compiled in the sandbox, where there is no GPU; `jit` leaves the compiling to the driver."""
    arch = gpus.capabilities()[0].compute_capability.replace(".", "")
    with tempfile.TemporaryDirectory(prefix="podium-gpu-test-") as name:
        workspace = Path(name)
        workspace.chmod(0o755)
        for source in (*PROGRAMS.glob("*.cu"), *PROGRAMS.glob("*.h")):
            shutil.copy(source, workspace)
        shell = f"for p in *.cu; do nvcc -arch=sm_{arch} -o ${{p%.cu}} $p || exit 1; done; "
        shell += "nvcc -gencode arch=compute_80,code=compute_80 -o jit features.cu"
        outcome = box.run(Command(shell, workspace, LIMITS))
        assert outcome.succeeded, outcome
        yield workspace


@pytest.fixture
def run(box: BubblewrapSandbox, built: Path) -> Run:
    def in_sandbox(shell: str, *, limits: Limits = LIMITS, gpu_uuids: tuple[str, ...] = (UUIDS[0],)) -> Outcome:
        return box.run(Command(shell, built, limits, gpu_uuids=gpu_uuids))

    return in_sandbox


# ---- what a command sees -------------------------------------------------------------------------------------------


def test_a_command_sees_exactly_one_gpu(run: Run) -> None:
    outcome = run("ls -d /dev/nvidia[0-9]*; ls /proc/driver/nvidia/gpus; cat /proc/driver/nvidia/gpus/*/information")
    assert outcome.succeeded, outcome
    assert len(re.findall(r"^/dev/nvidia\d+$", outcome.stdout, re.MULTILINE)) == 1
    assert re.findall(r"GPU UUID:\s*(\S+)", outcome.stdout) == [UUIDS[0]]


def test_a_compiled_program_runs_with_all_it_asks_of_the_driver(run: Run) -> None:
    outcome = run("./features")
    assert outcome.stdout == "1 GPU, all well\n", outcome
    print(f"wall {outcome.wall_ms:.0f} ms, peak memory {outcome.peak_memory_bytes >> 20} MiB")


def test_the_end_of_a_traced_program_is_witnessed(box: BubblewrapSandbox, built: Path) -> None:
    outcome = box.run(Command("./features", built, LIMITS, gpu_uuids=(UUIDS[0],), trace=True))
    assert (outcome.succeeded, outcome.witness) == (True, Witness.SEEN), outcome


def test_a_command_without_a_gpu_finds_none(run: Run) -> None:
    outcome = run("./features; ls /dev | grep -c nvidia; ls -A /proc/driver/nvidia | wc -l", gpu_uuids=())
    lines = outcome.stdout.splitlines()
    assert "cudaGetDeviceCount" in lines[0]
    assert lines[1:] == ["0", "0"]


def test_other_devices_of_the_machine_are_hidden(run: Run) -> None:
    ordinary = ["core", "fd", "full", "null", "ptmx", "pts", "random", "shm", "stderr", "stdin", "stdout"]
    ordinary += ["tty", "urandom", "zero"]
    shared = ["nvidiactl", "nvidia-uvm", "nvidia-uvm-tools"]
    shown = run("ls /dev").stdout.split()
    others = [name for name in shown if name not in {*ordinary, *shared} and not re.fullmatch(r"nvidia\d+", name)]
    assert "nvidiactl" in shown
    assert others == []


def test_there_is_no_network(run: Run) -> None:
    outcome = run("tail -n +2 /proc/net/route; exec 3<>/dev/tcp/127.0.0.1/22 && echo connected")
    assert outcome.stdout == ""
    assert "denied" in outcome.stderr, outcome


def test_files_of_the_host_are_out_of_reach(run: Run) -> None:
    with tempfile.NamedTemporaryFile(prefix="podium-secret-") as secret:
        Path(secret.name).write_text("secret")
        Path(secret.name).chmod(0o644)
        outcome = run(f"cat {secret.name}; ls /root /home /var; cat /etc/shadow /etc/hostname")
    assert outcome.stdout == "", outcome


def test_what_the_driver_compiles_is_gone_with_the_command(run: Run) -> None:
    first = run("./jit && find $CUDA_CACHE_PATH -type f | wc -l")
    assert int(first.stdout.split()[-1]) > 0, first
    assert run("ls $CUDA_CACHE_PATH").stdout == ""


@pytest.mark.skipif(not OWNS_GROUPS, reason="needs root and a writable cgroup v2 hierarchy with the memory controller")
def test_root_bounds_memory_by_groups_where_it_has_them(box: BubblewrapSandbox) -> None:
    listed = Path("/proc/self/cgroup").read_text()
    assert box.memory_limit_by == "cgroup2", f"{box.memory_limit_why}\n{listed}\n{read(Path('/proc/self/mountinfo'))}"


@pytest.mark.parametrize("program", ["pinned", "managed"])
@pytest.mark.parametrize("way", ["as chosen here", "watcher"])
def test_host_memory_of_the_driver_counts_against_the_limit(
    box: BubblewrapSandbox, watching: BubblewrapSandbox, built: Path, way: str, program: str
) -> None:
    used = watching if way == "watcher" else box
    small = Limits(60, 2 << 30, 64, 1 << 26, 1 << 26, 1 << 16)
    fitting, too_large = (
        used.run(Command(f"./{program} {gib}", built, small, gpu_uuids=(UUIDS[0],))) for gib in (1, 4)
    )
    told = f"{program}, bounded by {used.memory_limit_by}\n1 GiB: {fitting}\n4 GiB: {too_large}"
    print(told)
    assert fitting.stdout == f"{program}\n", told
    assert not too_large.succeeded, told
    refused = too_large.exit_code == REFUSED or too_large.signal == signal.SIGBUS
    assert too_large.memory_exceeded or refused, told


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="needs PyTorch")
def test_a_python_library_finds_the_gpu(run: Run) -> None:
    outcome = run("python3 -c 'import torch; a = torch.ones(512, 512, device=\"cuda\"); print((a @ a).sum().item())'")
    assert outcome.stdout == f"{512.0**3}\n", outcome


def test_the_node_s_capabilities_name_the_gpu_and_the_toolkit(box: BubblewrapSandbox) -> None:
    found = capabilities.find_out(box)
    print(found.gpus, found.toolkits, found.memory_limit_by, found.memory_limit_why)
    assert [gpu.uuid for gpu in found.gpus] == UUIDS
    assert "nvcc" in found.toolkits
    assert box.why_no_gpus((UUIDS[0],)) == ""


# ---- after a job ---------------------------------------------------------------------------------------------------


def test_a_killed_job_leaves_no_process_on_the_gpu(run: Run, gpus: Gpus) -> None:
    assert gpus.idle(UUIDS[0], IDLE_SECONDS), f"before the job: {who_is_there(gpus)}"
    short = replace(LIMITS, wall_seconds=6)
    with gpus.watch(UUIDS[0]) as watch:
        outcome = run("./burn 100 0 1000 & ./burn 100 0 1000 & ./burn 100 0 1000", limits=short)
        left, there = time.monotonic(), who_is_there(gpus)
    told = f"{outcome}\nseen of the device: {watch.record}\nas the job ended: {there}"
    assert outcome.timed_out, told
    assert watch.record.peak_process_count == 3, told
    assert gpus.idle(UUIDS[0], IDLE_SECONDS), f"{told}\n{IDLE_SECONDS:g} s later: {who_is_there(gpus)}"
    print(f"the GPU was left after {(time.monotonic() - left) * 1e3:.0f} ms; as the job ended: {there}")


def who_is_there(gpus: Gpus) -> str:
    """All that tells why a process is still listed: the driver's list twice, and what the kernel knows of each."""
    pids = gpus.process_ids(UUIDS[0])
    listed = _said_by("nvidia-smi", "--query-compute-apps=pid,name,used_memory", "--format=csv,noheader")
    slots = _said_by("ps", "-o", "pid,ppid,user,stat,wchan:20,args", "-U", str(FIRST_SLOT_UID))
    trouble = gpus.trouble(UUIDS[0])
    return (
        f"{describe(pids)}\n  nvidia-smi: {listed}\n  this process: {os.getpid()}, trouble: {trouble or 'none'}"
        f"\n  processes of the slot's user: {slots}"
    )


def _said_by(*command: str) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return repr(error)
    return (done.stdout + done.stderr).strip() or "nothing"


def test_a_program_s_own_fault_is_not_the_device_s_trouble(run: Run, gpus: Gpus) -> None:
    assert run("./faulty").exit_code == 3
    time.sleep(1)
    print("Xid events heard:", [xid for _, _, xid in gpus._health._xids._heard])
    assert gpus.trouble(UUIDS[0]) == ""


# ---- seen from outside ---------------------------------------------------------------------------------------------


def watched(run: Run, gpus: Gpus, shell: str) -> tuple[DeviceRecord, float]:
    """The observations of a run, and the milliseconds of work that the program itself counted."""
    time.sleep(SETTLED_SECONDS)
    with gpus.watch(UUIDS[0]) as watch:
        outcome = run(shell)
    left = time.monotonic()
    record = watch.record
    print(shell, outcome.stdout.strip(), f"record after {(time.monotonic() - left) * 1e3:.0f} ms:", record)
    assert outcome.succeeded, outcome
    return record, float(outcome.stdout)


@pytest.mark.parametrize(
    "shell",
    [
        "./burn 1 0 1",
        "./burn 10 0 1",
        "./burn 50 0 1",
        "./burn 5 5 20",
        "./burn 0.05 1 400",
        "./burn 300 0 1",
        "./burn 40 10 60",
    ],
)
def test_work_is_seen_within_its_resolution(run: Run, gpus: Gpus, shell: str) -> None:
    record, worked_ms = watched(run, gpus, shell)
    assert record.busy_ms is not None
    assert abs(record.busy_ms - worked_ms) <= record.busy_resolution_ms + 0.03 * worked_ms + 2
    assert record.busy_resolution_ms < 0.02 * record.wall_ms + 5


def test_a_busy_device_is_described_plausibly(run: Run, gpus: Gpus) -> None:
    record, _ = watched(run, gpus, "./burn 1500 0 1")
    assert record.n_samples > 100
    assert record.sm_clock_mhz is not None
    assert record.sm_clock_mhz > 800
    assert record.memory_clock_mhz is not None
    assert record.memory_clock_mhz > 1000
    assert record.power_w is not None
    assert 60 < record.power_w < 1200
    assert record.energy_mj is not None
    assert 50_000 < record.energy_mj < 1200 * record.wall_ms
    assert record.temperature_c is not None
    assert 20 < record.temperature_c < 95
    assert record.peak_process_count == 1
    assert not record.throttled


def test_sampling_costs_the_run_nothing_that_can_be_seen(run: Run, gpus: Gpus) -> None:
    plain = sorted(float(run("./burn 0.02 0 2000").stdout) for _ in range(5))[2]
    seen = sorted(watched(run, gpus, "./burn 0.02 0 2000")[1] for _ in range(5))[2]
    print(f"unwatched {plain:.3f} ms, watched {seen:.3f} ms")
    assert seen < 1.02 * plain


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="needs PyTorch")
def test_matrix_products_at_the_power_limit_are_not_called_throttled(run: Run, gpus: Gpus) -> None:
    program = (
        "import time, torch\n"
        "a = torch.randn(8192, 8192, device='cuda', dtype=torch.bfloat16)\n"
        "end = time.monotonic() + 6\n"
        "while time.monotonic() < end:\n"
        "    for _ in range(50): a @ a\n"
        "    torch.cuda.synchronize()\n"
        "print(1)"
    )
    record, _ = watched(run, gpus, f'python3 -c "{program}"')
    print(
        f"at its power limit for {record.power_capped_share:.0%} of the samples, lowest {record.sm_clock_low_mhz} MHz"
    )
    assert not record.throttled
