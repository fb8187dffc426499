"""The images that nodes run commands in are pinned, and nothing in them runs as root. They are read, not built."""

import re
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "docker"
DOCKERFILES = sorted(FOLDER.glob("*.Dockerfile"))
CUDA = sorted(FOLDER.glob("cuda*.Dockerfile"))


def instructions(path: Path) -> list[str]:
    """Whole instructions, without comments."""
    lines = [line for line in path.read_text().splitlines() if not line.startswith("#")]
    return [line for line in "\n".join(lines).replace("\\\n", " ").splitlines() if line.strip()]


def test_there_is_an_image_for_each_toolkit_and_language() -> None:
    assert [path.stem for path in CUDA] == ["cuda12-cpp", "cuda12-python", "cuda13-cpp", "cuda13-python"]


@pytest.mark.parametrize("path", DOCKERFILES, ids=lambda path: path.stem)
def test_an_image_leaves_its_base_to_be_named_by_digest_and_its_user_without_rights(path: Path) -> None:
    found = instructions(path)
    stages = [line for line in found if line.startswith("FROM")]
    assert stages
    assert all(re.fullmatch(r"FROM \$\{(CUDA_)?BASE\}( AS [a-z-]+)?", line) for line in stages)
    assert [line for line in found if line.startswith("USER")][-1] == "USER 65532:65532"
    assert "latest" not in "\n".join(found)


@pytest.mark.parametrize("path", CUDA, ids=lambda path: path.stem)
def test_a_base_that_is_not_named_has_an_exact_tag(path: Path) -> None:
    (base,) = (line.removeprefix("ARG BASE=") for line in instructions(path) if line.startswith("ARG BASE="))
    own = path.stem.replace("-python", "-cpp")
    assert re.fullmatch(r"nvidia/cuda:\d+\.\d+\.\d+-cudnn-devel-ubuntu\d+\.\d+", base) or base == f"podium-{own}"
    assert f"cuda{base.partition(':')[2].partition('.')[0]}" == path.stem.partition("-")[0] or base.startswith(
        "podium-"
    )


@pytest.mark.parametrize("path", [path for path in CUDA if path.stem.endswith("cpp")], ids=lambda path: path.stem)
def test_packages_of_the_distribution_are_those_of_one_moment(path: Path) -> None:
    text = "\n".join(instructions(path))
    assert re.search(r"ARG SNAPSHOT=\d{8}T\d{6}Z", text)
    assert text.index("APT::Snapshot") < text.index("apt-get update")
    assert "NVIDIA_VISIBLE_DEVICES=void" in text


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.txt")), ids=lambda path: path.stem)
def test_python_packages_are_exact_versions_and_complete(path: Path) -> None:
    lines = [line for line in path.read_text().splitlines() if not line.startswith("#")]
    assert all(re.fullmatch(r"[A-Za-z0-9_-]+==[0-9][0-9a-z.]*", line) for line in lines)
    dockerfile = path.with_suffix(".Dockerfile").read_text()
    assert f"COPY docker/{path.name} " in dockerfile
    assert "--no-deps" in dockerfile
    assert "pip check" in dockerfile
