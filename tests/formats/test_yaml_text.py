"""YAML that cannot be read is told with its place, never by a traceback."""

from pathlib import Path

import pytest

from problems.formats.compute_eval.directory import read_problem_directory
from problems.formats.errors import PackRefused
from problems.formats.functions.folder import read_folder
from problems.formats.yaml_text import read_yaml
from tests.formats.test_problem_directories import SPEC, lay_out

BILLION = "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "\n".join(
    f"{after}: &{after} [{', '.join([f'*{before}'] * 10)}]"
    for before, after in zip("abcdefgh", "bcdefghi", strict=True)
)
MERGED = "a: &a {k: v}\n" + "\n".join(
    f"{after}: &{after}\n  <<: [{', '.join([f'*{before}'] * 10)}]"
    for before, after in zip("abcdefgh", "bcdefghi", strict=True)
)
BAD = {
    "month": ("date: 2026-13-01", "value that cannot be: month must be in 1..12"),
    "digits": (f"a: {'9' * 5000}", "value that cannot be"),
    "bool": ("a: !!bool maybe", "value that cannot be"),
    "stamp": ("a: !!timestamp soon", "value that cannot be"),
    "deep": ("a: " + "[" * 20_000, "nested too deep"),
    "itself": ("a: &a [*a]", "or holds itself"),
    "aliases": (BILLION, "aliases written out it has over"),
    "merged": (MERGED, "aliases written out it has over"),
    "open": ("a: [", "expected the node content"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_cannot_be_read_is_refused_with_its_place(name: str) -> None:
    text, words = BAD[name]
    with pytest.raises(PackRefused, match=f"^a/release.yaml: .*{words}"):
        read_yaml(text, "a/release.yaml")


def test_small_aliases_and_merges_are_read() -> None:
    text = "a: &a {k: v}\nb: *a\nc:\n  <<: *a\n  l: 1"
    assert read_yaml(text, "here") == {"a": {"k": "v"}, "b": {"k": "v"}, "c": {"k": "v", "l": 1}}
    assert read_yaml("", "here") is None


def test_a_folder_with_a_day_that_is_none_is_refused(tmp_path: Path) -> None:
    lay_out(tmp_path / "CUDA-0", SPEC.replace("2024-12-19", "2024-13-19"))
    with pytest.raises(PackRefused, match=r"problem-spec\.yaml: .*month must be in 1\.\.12"):
        read_problem_directory(tmp_path)


def test_so_is_a_function_with_such_a_statement(tmp_path: Path) -> None:
    (tmp_path / "def.py").write_text("")
    (tmp_path / "problem.md").write_text("---\nslug: a\ntitle: !!bool maybe\n---\nText\n")
    with pytest.raises(PackRefused, match=r"problem\.md: .*value that cannot be"):
        read_folder(tmp_path)
