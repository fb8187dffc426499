"""The rights that bubblewrap lacks: asked of the kernel where they are withheld, and their errnos explained."""

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from runners.agent.sandbox import bubblewrap, rights
from runners.agent.sandbox.rights import explain, lacks_of_gpus, lacks_of_sandbox
from tests.requirements import requires

ROOT = Path(__file__).parents[2]
ALLOWED = {"user": 0, "map": 0, "namespaces": 0, "mount": 0, "proc": 0, "pivot_root": 0}
WITHHELD = {
    "user": "echo 0 >/proc/sys/user/max_user_namespaces",
    "proc": "mount --bind /dev/null /proc/keys",
}
"""Shell commands, run as root of a namespace of their own, after which bubblewrap works there no more."""
REMEDIES = {"user": "user.max_user_namespaces=15000", "proc": "systempaths=unconfined"}


OF_BROWSERS = "DJANGO_ALLOW_ASYNC_UNSAFE"
"""Set in the process of browser tests; a check of a deployment refuses it."""


def inside(withhold: str, *command: str, **variables: str) -> "subprocess.CompletedProcess[str]":
    """Run the command where the right is withheld."""
    shell = ["unshare", "--map-root-user", "--mount", "sh", "-ec", f'{withhold}; exec "$@"', "sh", *command]
    environ = {name: value for name, value in os.environ.items() if name != OF_BROWSERS} | variables
    return subprocess.run(shell, cwd=ROOT, env=environ, capture_output=True, text=True, timeout=120, check=False)


@requires("bubblewrap")
def test_nothing_is_withheld_where_bubblewrap_works() -> None:
    assert lacks_of_sandbox() == []


@requires("bubblewrap")
@pytest.mark.parametrize("right", WITHHELD)
def test_the_kernel_tells_which_right_is_withheld(right: str) -> None:
    ran = inside(WITHHELD[right], sys.executable, "-I", "-S", str(rights.PROBE))
    found = json.loads(ran.stdout)
    assert [name for name, code in found.items() if code] == [right], ran.stderr


@requires("bubblewrap")
@pytest.mark.parametrize("right", WITHHELD)
def test_the_command_names_the_remedy_and_fails(right: str) -> None:
    ran = inside(WITHHELD[right], sys.executable, "-m", "podium.cli", "rights")
    assert ran.returncode == 1, ran.stderr
    [line] = ran.stdout.splitlines()
    assert REMEDIES[right] in line


@requires("bubblewrap")
@pytest.mark.parametrize("right", WITHHELD)
def test_a_node_that_cannot_start_names_the_remedy(right: str) -> None:
    code = "from runners.agent.sandbox import choose; choose('bubblewrap')"
    ran = inside(WITHHELD[right], sys.executable, "-c", code)
    assert "SandboxUnavailable: bubblewrap cannot confine commands here" in ran.stderr
    assert REMEDIES[right] in ran.stderr


@requires("bubblewrap")
@pytest.mark.parametrize(("sandbox", "kind"), [("bubblewrap", "podium.W003"), ("", "podium.I001"), ("docker", "")])
def test_the_sites_check_warns_where_a_node_is_to_run(sandbox: str, kind: str, tmp_path: Path) -> None:
    check = [sys.executable, "manage.py", "check", "--deploy"]
    ran = inside(WITHHELD["user"], *check, PODIUM_SANDBOX=sandbox, PODIUM_VAR_DIR=str(tmp_path))
    assert ran.returncode == 0, ran.stderr
    said = ran.stdout + ran.stderr
    assert [name for name in ("podium.W003", "podium.I001") if name in said] == [kind] * bool(kind)
    assert (REMEDIES["user"] in said) is bool(kind)


def system(folder: Path, **sysctls: str) -> Path:
    for name, value in sysctls.items():
        path = folder / name.replace("__", "/")
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"{value}\n", encoding="ascii")
    return folder


RESTRICTED = {"kernel__apparmor_restrict_unprivileged_userns": "1"}


@pytest.mark.parametrize(
    ("step", "code", "is_filtered", "sysctls", "remedy"),
    [
        ("user", errno.EPERM, True, {}, "seccomp=deploy/node-seccomp.json"),
        ("namespaces", errno.EPERM, True, {}, "seccomp=deploy/node-seccomp.json"),
        ("pivot_root", errno.EPERM, True, {}, "seccomp=deploy/node-seccomp.json"),
        ("mount", errno.EACCES, True, {}, "apparmor=unconfined"),
        ("proc", errno.EPERM, True, {}, "systempaths=unconfined"),
        ("user", errno.ENOSPC, False, {}, "user.max_user_namespaces"),
        ("user", errno.EPERM, False, {"kernel__unprivileged_userns_clone": "0"}, "kernel.unprivileged_userns_clone=1"),
        ("map", errno.EPERM, True, RESTRICTED, "kernel.apparmor_restrict_unprivileged_userns=0"),
        ("user", errno.EPERM, True, RESTRICTED, "seccomp=deploy/node-seccomp.json"),
        ("user", errno.EPERM, False, {}, "chroot"),
    ],
)
def test_an_errno_is_explained_by_the_machines_settings(
    step: str, code: int, is_filtered: bool, sysctls: dict[str, str], remedy: str, tmp_path: Path
) -> None:
    [lack] = explain({**ALLOWED, step: code}, is_filtered=is_filtered, system=system(tmp_path, **sysctls))
    assert (lack.right, lack.is_needed) == (step, True)
    assert remedy in lack.words


def test_allowed_steps_are_no_lack(tmp_path: Path) -> None:
    assert explain(ALLOWED, is_filtered=True, system=tmp_path) == []


def test_a_probe_that_says_nothing_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(rights, "PROBE", tmp_path / "missing.py")
    [lack] = lacks_of_sandbox()
    assert "could not be asked" in lack.words


def test_a_refusal_that_the_kernel_does_not_explain_keeps_all_remedies(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(bubblewrap, "lacks_of_sandbox", list)
    monkeypatch.setattr(bubblewrap, "find_bwrap", lambda: Path("/bin/false"))
    assert "AppArmor profile" in bubblewrap.why_unavailable()


@pytest.fixture
def driver(tmp_path: Path) -> Path:
    folder = tmp_path / "driver"
    folder.mkdir()
    (folder / "params").write_text("ResmanDebugLevel: 1\nRmProfilingAdminOnly: 0\n", encoding="ascii")
    return folder


@pytest.fixture
def devices(tmp_path: Path) -> Path:
    folder = tmp_path / "dev"
    folder.mkdir()
    for name in ("nvidiactl", "nvidia-uvm", "nvidia0"):
        (folder / name).touch()
    return folder


def test_a_machine_without_a_driver_lacks_nothing_of_gpus(tmp_path: Path, devices: Path) -> None:
    assert lacks_of_gpus(tmp_path / "none", devices) == []


def test_a_container_with_its_gpus_lacks_nothing(driver: Path, devices: Path) -> None:
    assert lacks_of_gpus(driver, devices) == []


@pytest.mark.parametrize("name", ["nvidiactl", "nvidia-uvm", "nvidia0"])
def test_a_missing_device_file_is_named(driver: Path, devices: Path, name: str) -> None:
    (devices / name).unlink()
    [lack] = lacks_of_gpus(driver, devices)
    assert lack.is_needed
    assert "--gpus all" in lack.words
    assert name.rstrip("0") in lack.words


def test_closed_counters_are_optional(driver: Path, devices: Path) -> None:
    (driver / "params").write_text("RmProfilingAdminOnly: 1\n", encoding="ascii")
    [lack] = lacks_of_gpus(driver, devices)
    assert not lack.is_needed
    assert "NVreg_RestrictProfilingToAdminUsers=0" in lack.words
