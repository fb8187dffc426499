"""The wheel holds all that a site and a node need outside a checkout."""

import os
import subprocess
import sys
import zipfile
from email.message import Message
from email.parser import Parser
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("leaderboard", "podium", "problems", "runners", "scoring")
BESIDE = ("templates", "static")

pytestmark = pytest.mark.rest


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    environ = os.environ | {"PYTHON": sys.executable}
    made = subprocess.run(
        ["sh", "deploy/dist.sh", str(folder)], cwd=ROOT, env=environ, capture_output=True, text=True, check=False
    )
    assert made.returncode == 0, made.stderr
    return folder


@pytest.fixture(scope="module")
def wheel(dist: Path) -> zipfile.ZipFile:
    return zipfile.ZipFile(next(dist.glob("podium-*.whl")))


def files_of(*folders: str) -> set[str]:
    listed = subprocess.run(["git", "ls-files", *folders], cwd=ROOT, capture_output=True, text=True, check=True)
    return {name for name in listed.stdout.splitlines() if (ROOT / name).exists()}


def metadata(wheel: zipfile.ZipFile) -> Message:
    name = next(name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
    return Parser().parsestr(wheel.read(name).decode())


def test_it_has_every_file_of_the_packages(wheel: zipfile.ZipFile) -> None:
    assert files_of(*PACKAGES) - set(wheel.namelist()) == set()


def test_it_has_pages_static_files_and_the_history_in_the_place_where_the_settings_look(wheel: zipfile.ZipFile) -> None:
    shipped = {f"leaderboard/shipped/{name}" for name in files_of(*BESIDE, "CHANGELOG.md")}
    assert shipped - set(wheel.namelist()) == set()


def test_it_has_nothing_else(wheel: zipfile.ZipFile) -> None:
    known = files_of(*PACKAGES, "--others", "--cached", "--exclude-standard")
    others = {name for name in wheel.namelist() if ".dist-info/" not in name and "/shipped/" not in name}
    assert others - known == set()


def test_it_says_its_version_and_licence(wheel: zipfile.ZipFile) -> None:
    said = metadata(wheel)
    assert (said["Version"], said["License-Expression"]) == ("0.1.0", "Apache-2.0")
    licences = said.get_all("License-File")
    assert "LICENSE" in licences
    assert files_of("static/vendor/*LICENSE") <= set(licences)


def test_both_commands_are_installed(wheel: zipfile.ZipFile) -> None:
    name = next(name for name in wheel.namelist() if name.endswith("entry_points.txt"))
    assert {"podium = podium.cli:main", "podium-site = leaderboard.__main__:main"} <= set(
        wheel.read(name).decode().splitlines()
    )


def test_a_site_starts_from_the_wheel_with_its_pages(dist: Path, wheel: zipfile.ZipFile, tmp_path: Path) -> None:
    unpacked = tmp_path / "installed"
    wheel.extractall(unpacked)
    environ = {name: value for name, value in os.environ.items() if not name.startswith(("PODIUM_", "DJANGO_"))}
    ran = subprocess.run(
        [sys.executable, "-P", "-m", "leaderboard", "findstatic", "podium/admin.css", "--verbosity", "0"],
        cwd=tmp_path,
        env=environ | {"PYTHONPATH": str(unpacked)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.stdout.strip() == str(unpacked / "leaderboard/shipped/static/podium/admin.css"), ran.stderr
    assert (tmp_path / "var").is_dir()
