"""The private root of sandboxes: agents that share a cache may stage it at once, and it shows nobody's home."""

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from runners.agent.ground.errors import SandboxUnavailable
from runners.agent.ground.homes import why_private
from runners.agent.sandbox import Command
from runners.agent.sandbox.root import stage_etc
from tests.requirements import requires
from tests.sandbox.boxes import LIMITS, open_sandbox


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.skipif(not Path("/etc/alternatives").is_dir(), reason="this machine has no /etc/alternatives")
def test_agents_that_start_at_once_stage_the_same_etc(tmp_path: Path) -> None:
    start = Barrier(8)

    def stage(_: int) -> Path:
        start.wait()
        return stage_etc(tmp_path)

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(stage, range(8))) == {tmp_path / "etc"}
    assert names_in(tmp_path / "etc" / "alternatives") == names_in(Path("/etc/alternatives"))
    assert names_in(tmp_path) == ["etc"]


# ---- toolchains and homes ------------------------------------------------------------------------------------------

KEY = "private key"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder with a key and a `bin` at the head of the search path."""
    folder = tmp_path / "people" / "ann"
    (folder / "bin").mkdir(parents=True)
    (folder / ".ssh").mkdir()
    (folder / ".ssh" / "id_ed25519").write_text(KEY)
    for shown in (tmp_path, tmp_path / "people", folder, folder / ".ssh"):
        shown.chmod(0o755)
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("PATH", f"{folder}/bin", prepend=":")
    return folder


def program(path: Path, says: str = "mine") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\necho {says}\n")
    path.chmod(0o755)
    return path


def read_in_a_sandbox(cache: Path, home: Path, workspace: Path, shell: str) -> str:
    """The output of a command, and then every file below the home's parent that it can read."""
    box = open_sandbox("bubblewrap", cache)
    everything = f"find {home.parent} -type f -exec cat {{}} + 2>/dev/null"
    return box.run(Command(f"{shell}; {everything}", workspace, LIMITS)).stdout


@requires("bubblewrap")
@pytest.mark.parametrize("place", ["bin/ninja", ".local/bin/ninja", "tools/ninja"])
def test_a_tool_in_a_home_folder_shows_itself_alone(
    cache: Path, home: Path, workspace: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    tool = program(home / place)
    (home / ".local").mkdir(exist_ok=True)
    (home / ".local" / "token").write_text(KEY)
    monkeypatch.setenv("PATH", str(tool.parent), prepend=":")
    seen = read_in_a_sandbox(cache, home, workspace, "ninja")
    assert seen.startswith("mine\n")
    assert KEY not in seen


@requires("bubblewrap")
def test_a_link_in_a_home_folder_leads_to_an_installation_elsewhere(cache: Path, home: Path, workspace: Path) -> None:
    real = program(home / "ninja-1.12" / "bin" / "ninja", says="$(cat $(dirname $(readlink -f $0))/../lib/words)")
    (home / "ninja-1.12" / "lib").mkdir()
    (home / "ninja-1.12" / "lib" / "words").write_text("of the installation\n")
    (home / "bin" / "ninja").symlink_to(real)
    seen = read_in_a_sandbox(cache, home, workspace, "ninja")
    assert seen.startswith("of the installation\n")
    assert KEY not in seen


@requires("bubblewrap")
@pytest.mark.parametrize("way", ["on the path", "by a link", "by a script"])
def test_programs_are_told_where_the_toolkit_of_the_shadowed_nvcc_is(
    cache: Path, tmp_path: Path, workspace: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    """A script does not say where it leads: then it is the toolkit at the customary place, if there is one."""
    toolkit = tmp_path / "toolkit"
    links = toolkit / "links" / "bin"
    real = program(toolkit / "bin" / "nvcc")
    (toolkit / "include").mkdir()
    (toolkit / "include" / "cuda_runtime.h").touch()
    if way == "by a link":
        links.mkdir(parents=True)
        (links / "nvcc").symlink_to(real)
    elif way == "by a script":
        program(links / "nvcc")
    monkeypatch.setenv("PATH", str(real.parent if way == "on the path" else links), prepend=":")
    customary = "/usr/local/cuda" if Path("/usr/local/cuda/include/cuda_runtime.h").exists() else ""
    box = open_sandbox("bubblewrap", cache)
    seen = box.run(Command("command -v nvcc; echo $CUDA_HOME; CUDA_HOME=mine; echo $CUDA_HOME", workspace, LIMITS))
    assert seen.stdout == f"/podium/bin/nvcc\n{customary if way == 'by a script' else toolkit}\nmine\n"


@requires("bubblewrap")
def test_a_python_linked_from_a_home_folder_runs_and_shows_no_home(
    cache: Path, home: Path, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = home / "bin" / "python3"
    link.symlink_to(Path(sys.base_prefix) / "bin" / "python3")
    monkeypatch.setenv("PODIUM_PYTHON", str(link))
    seen = read_in_a_sandbox(cache, home, workspace, "python3 -c 'import sys; print(sys.version_info[:2])'")
    assert seen == f"{sys.version_info[:2]}\n"


@requires("bubblewrap")
@pytest.mark.parametrize("place", [".", ".local"])
def test_a_python_installed_into_a_home_folder_is_refused(
    cache: Path, home: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    monkeypatch.setenv("PODIUM_PYTHON", str(program(home / place / "bin" / "python3")))
    with pytest.raises(SandboxUnavailable, match=r"private files.*PODIUM_PYTHON"):
        open_sandbox("bubblewrap", cache)


@pytest.mark.parametrize("place", [".", "..", "../..", ".local", ".config", ".cache"])
def test_homes_and_folders_above_them_are_private(home: Path, place: str) -> None:
    assert "private files" in why_private(home / place)


@pytest.mark.parametrize("place", ["cuda-13.0", ".local/share/uv/python/3.12", ".cache/podium/x", "../../opt"])
def test_other_folders_are_not(home: Path, place: str) -> None:
    assert why_private(home / place) == ""
