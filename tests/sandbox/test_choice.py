"""Which sandbox a node takes, what it says where there is none, and how its parts fit together."""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from runners.agent import sandbox
from runners.agent.sandbox import (
    Command,
    SandboxFault,
    SandboxUnavailable,
    bubblewrap,
    choose,
    docker,
    processes,
    supervisor,
)
from runners.agent.sandbox.cages import TreeCage, choose_memory_limit
from runners.agent.sandbox.processes import tree_of
from runners.agent.sandbox.supervisor import Orders, split_report
from runners.wire.protocol import Witness
from tests.patience import until
from tests.requirements import requires
from tests.sandbox.boxes import LIMITS, NAP_SECONDS, processes_named


def test_a_named_backend_is_taken(cache: Path) -> None:
    with pytest.warns(UserWarning, match="Run only code that you trust"):
        assert choose("unconfined", cache_dir=cache).name == "unconfined"


@requires("bubblewrap")
def test_the_environment_names_a_backend(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PODIUM_SANDBOX", "bubblewrap")
    assert choose(cache_dir=cache).name == "bubblewrap"


@requires("bubblewrap")
def test_bubblewrap_is_taken_where_docker_does_not_answer(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PODIUM_SANDBOX", raising=False)
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")
    assert choose(cache_dir=cache).name == "bubblewrap"


def test_unconfined_is_never_taken_unasked(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PODIUM_SANDBOX", raising=False)
    monkeypatch.setattr(docker, "why_unavailable", lambda: "no engine")
    monkeypatch.setattr(sandbox, "why_no_bubblewrap", lambda: "no namespaces")
    with pytest.raises(SandboxUnavailable, match="no engine\nno namespaces"):
        choose(cache_dir=cache)


def test_an_unknown_backend_is_refused_with_the_known_ones(cache: Path) -> None:
    with pytest.raises(SandboxUnavailable, match="docker, bubblewrap, unconfined"):
        choose("chroot", cache_dir=cache)


def test_bubblewrap_says_how_to_allow_namespaces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refusing = tmp_path / "bwrap"
    refusing.write_text("#!/bin/sh\necho 'setting up uid map: Permission denied' >&2; exit 1\n")
    refusing.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    words = bubblewrap.why_unavailable()
    for needed in (
        "apparmor_restrict_unprivileged_userns",
        "`unconfined`",
        "uid map: Permission denied",
        str(refusing),
    ):
        assert needed in words


def test_without_a_compiler_the_supervisor_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(SandboxUnavailable, match=r"apt install g\+\+"):
        supervisor.build(tmp_path)


def test_a_supervisor_built_elsewhere_can_be_named(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    built = supervisor.build(cache)
    monkeypatch.setenv("PODIUM_SUPERVISOR", str(built))
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert supervisor.build(tmp_path).read_bytes() == built.read_bytes()


def test_a_sandbox_that_cannot_start_is_a_fault_of_ours(cache: Path, workspace: Path, opened) -> None:
    box = opened("unconfined")
    with pytest.raises(SandboxFault, match="workspace"):
        box.run(Command("true", workspace / "missing", LIMITS))


def test_a_command_with_a_nul_is_refused(workspace: Path, opened) -> None:
    with pytest.raises(SandboxFault, match="NUL"):
        opened("unconfined").run(Command("echo a\0b", workspace, LIMITS))


REPORT = {
    "exit_code": 0,
    "signal": None,
    "timed_out": False,
    "cancelled": False,
    "wall_ms": 1.5,
    "cpu_ms": 1.0,
    "stalled_ms": 0.0,
    "lost_ms": 0.0,
    "others_ms": 0.0,
    "timed_ms": 0.0,
    "steal_ms": 0.0,
    "max_rss_bytes": 4096,
    "witness": "seen",
    "witness_detail": "",
}


def test_only_the_last_report_with_the_nonce_counts() -> None:
    line = json.dumps(REPORT).encode()
    early = json.dumps({**REPORT, "exit_code": 9}).encode()
    found = split_report(b"out\nabc " + early + b"\n\nabc " + line + b"\n", "abc")
    assert found is not None
    assert (found[1].exit_code, found[1].witness) == (0, Witness.SEEN)


@pytest.mark.parametrize(
    "tail", [b"", b"abc {}", b"\nabc {}\n", b"\nabc not json}\n", b"\nxyz " + json.dumps(REPORT).encode() + b"\n"]
)
def test_anything_else_is_no_report(tail: bytes) -> None:
    assert split_report(tail, "abc") is None


def test_every_command_gets_a_nonce_of_its_own(workspace: Path) -> None:
    command = Command("true", workspace, LIMITS)
    first, second = (Orders(command, "/workspace", "/podium", {}) for _ in range(2))
    assert first.nonce != second.nonce
    assert len(first.nonce) == 32


def test_the_command_ends_with_its_agent(cache: Path, workspace: Path) -> None:
    code = (
        "import sys, warnings; from pathlib import Path; warnings.simplefilter('ignore')\n"
        "from runners.agent.sandbox import choose, Command; from tests.sandbox.boxes import LIMITS\n"
        "cache, workspace = map(Path, sys.argv[1:])\n"
        f"choose('unconfined', cache_dir=cache).run("
        f"Command('sleep {NAP_SECONDS} & sleep {NAP_SECONDS}', workspace, LIMITS))"
    )
    agent = subprocess.Popen([sys.executable, "-c", code, str(cache), str(workspace)])
    assert until(lambda: len(processes_named(f"sleep\0{NAP_SECONDS}")) == 2)
    agent.send_signal(signal.SIGKILL)
    agent.wait()
    assert until(lambda: processes_named(NAP_SECONDS) == [])


def test_memory_is_bounded_by_something_here() -> None:
    assert choose_memory_limit().name in {"cgroup2", "systemd-scope", "cgroup1", "watcher"}


def test_the_watcher_adds_up_a_tree() -> None:
    with subprocess.Popen(["sh", "-c", "sleep 60 & sleep 60 & wait"]) as parent:
        assert until(lambda: len(tree_of(parent.pid)) == 3)
        cage = TreeCage(1)
        cage.attach(parent.pid)
        assert cage.exceeded()
        cage.kill()
    assert cage.close().peak_bytes > 4096


MAPS_A_FILE = """\
import mmap, sys
with open(sys.argv[1], "r+b") as file:
    shown = mmap.mmap(file.fileno(), 0)
sum(shown[at] for at in range(0, len(shown), 4096))
print("mapped", flush=True)
sys.stdin.read()
"""


def test_the_watcher_counts_what_a_driver_shows_through_its_files_but_no_libraries(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file on disk stands for the device file: the kernel counts the pages of both as file pages."""
    file = tmp_path / "nvidia-uvm"
    file.write_bytes(b"x" * (64 << 20))
    command = [sys.executable, "-c", MAPS_A_FILE, str(file)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as program:
        assert program.stdout is not None
        assert program.stdout.readline() == b"mapped\n"
        if processes.file_bytes(program.pid) < 64 << 20:
            program.kill()
            pytest.skip("the temporary folder lies in memory")
        as_library, as_driver = TreeCage(48 << 20), TreeCage(48 << 20)
        as_library.attach(program.pid)
        as_driver.attach(program.pid)
        assert not as_library.exceeded()
        monkeypatch.setattr(processes, "DRIVER_FILES", str(tmp_path))
        assert as_driver.exceeded()
        program.kill()
    assert as_driver.close().peak_bytes > 64 << 20


# ---- Docker's settings, which a machine without a GPU or an engine can check as data -------------------------------


def test_a_container_is_confined(workspace: Path, cache: Path) -> None:
    settings = docker.host_settings(Command("true", workspace, LIMITS), cache)
    assert settings["network_mode"] == "none"
    assert settings["cap_drop"] == ["ALL"]
    assert settings["security_opt"] == ["no-new-privileges:true"]
    assert settings["read_only"] is True
    assert settings["mem_limit"] == settings["memswap_limit"] == LIMITS.memory_bytes
    assert settings["ipc_mode"] == "private"
    assert settings["init"] is False
    assert [mount["ReadOnly"] for mount in settings["mounts"]] == [False, True]


@pytest.mark.parametrize("image", ["debian", "debian:12", "sha256:abc", ""])
def test_an_image_that_may_change_is_refused(image: str) -> None:
    with pytest.raises(SandboxFault, match="by digest"):
        docker.pinned_image(None, image)
