"""Native sources name the headers they use: what one compiler's headers bring along, another's do not."""

import re
import tomllib
from pathlib import Path

import pytest

from runners import agent

FOLDERS = ("sandbox/native", "profilers/native", "devices/native", "devices/gate_native")
SOURCES = sorted(
    path
    for folder in FOLDERS
    for path in (Path(agent.__file__).parent / folder).iterdir()
    if path.suffix in {".h", ".cpp"}
)
USES = {
    "<cstdint>": r"\bu?int(8|16|32|64)_t\b|\bSIZE_MAX\b|\bintptr_t\b",
    "<algorithm>": r"\bstd::(sort|min|max|any_of|all_of|find|find_if|count|copy|replace)\(",
}


@pytest.mark.parametrize("header", USES)
@pytest.mark.parametrize("source", SOURCES, ids=lambda path: f"{path.parent.parent.name}-{path.name}")
def test_a_source_includes_what_it_uses(source: Path, header: str) -> None:
    text = source.read_text(encoding="utf-8")
    assert f"#include {header}" in text or not re.search(USES[header], text)


def test_there_are_sources_to_look_at() -> None:
    assert len(SOURCES) > 20


@pytest.mark.parametrize("folder", FOLDERS)
def test_the_sources_are_part_of_what_is_installed(folder: str) -> None:
    project = Path(agent.__file__).parents[2] / "pyproject.toml"
    data = tomllib.loads(project.read_text(encoding="utf-8"))["tool"]["setuptools"]["package-data"]
    package, _, name = folder.partition("/")
    assert f"{name}/*" in data[f"runners.agent.{package}"]
