"""Parts of the folders that imports write."""

from pathlib import Path

import pytest

from problems.formats.errors import PackRefused
from problems.formats.set_files import parsed, read_text, slug_of
from problems.formats.set_folders import dims_over, embedded, fenced, front_matter
from problems.formats.yaml_text import read_yaml


def test_a_length_that_differs_between_cases_has_a_name() -> None:
    dims, axes = dims_over([{"x": [4, 8], "y": [4]}, {"x": [5, 8], "y": [5]}])
    assert dims == {"x": ("x_0", 8), "y": ("y_0",)}
    assert axes == [{"x_0": 4, "y_0": 4}, {"x_0": 5, "y_0": 5}]


@pytest.mark.parametrize("other", [{"x": [4]}, {"y": [4, 8]}])
def test_cases_with_other_arrays_are_refused(other: dict[str, list[int]]) -> None:
    with pytest.raises(PackRefused, match="case 2"):
        dims_over([{"x": [4, 8]}, other])


def test_a_fence_is_longer_than_those_within() -> None:
    assert fenced("a ```` b", "python") == "`````python\na ```` b\n`````"


def test_front_matter_is_yaml_whatever_a_title_holds(tmp_path: Path) -> None:
    head = {"title": 'a: "b" # c\n---', "tags": ["no"]}
    lines = front_matter(head).split("\n")
    assert (lines[0], lines[3]) == ("---", "---")
    assert read_yaml("\n".join(lines[1:3]), tmp_path) == head


def test_modules_become_one_text_without_their_imports_of_each_other(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text('"""A."""\n\nfrom __future__ import annotations\n\nX = 1\n')
    (tmp_path / "b.py").write_text('"""B."""\n\nfrom __future__ import annotations\n\nfrom .a import X\n\nY = X + 1\n')
    text = embedded('Ends """ early', tmp_path / "a.py", tmp_path / "b.py")
    values: dict[str, object] = {}
    exec(text, values)
    assert values["Y"] == 2


@pytest.mark.parametrize(
    ("parts", "slug"),
    [(("level1", "12_A__b.py"), "level1-12-a-b"), (("../..", ""), "problem"), (("é", "x" * 200), "x" * 100)],
)
def test_a_slug_is_plain(parts: tuple[str, ...], slug: str) -> None:
    assert slug_of(*parts) == slug


def test_deep_json_and_links_are_refused(tmp_path: Path) -> None:
    with pytest.raises(PackRefused, match="RecursionError"):
        parsed("[" * 200_000, "deep.json")
    (tmp_path / "link").symlink_to("/etc/hostname")
    with pytest.raises(PackRefused, match="no plain file"):
        read_text(tmp_path / "link")
