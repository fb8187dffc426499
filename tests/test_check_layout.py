"""The lint check of long files, functions and lines, modules without a first line, full folders and shared names."""

from pathlib import Path

import pytest

from scripts.check_layout import MAX_FILE_LINES, MAX_FOLDER_MODULES, MAX_FUNCTION_LINES, MAX_TEMPLATE_LINE, main

SAID = '"""Says what it is for."""\n'


def function(n_lines: int, indent: str = "") -> str:
    return f"{indent}def long():\n" + f"{indent}    pass\n" * (n_lines - 1)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", ""),
        (SAID + "\n" * (MAX_FILE_LINES - 1), ""),
        (SAID + "\n" * MAX_FILE_LINES, "451 lines; 450 are the most"),
        (SAID + function(MAX_FUNCTION_LINES), ""),
        (SAID + function(MAX_FUNCTION_LINES + 1), "long has 61 lines; 60 are the most"),
        (SAID + "class A:\n" + function(MAX_FUNCTION_LINES + 1, "    "), "long has 61 lines; 60 are the most"),
        ("x = 1\n", "its first line should say what it is for"),
    ],
)
def test_a_module_has_the_fault(tmp_path: Path, text: str, fault: str, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "podium").mkdir()
    (tmp_path / "podium" / "a.py").write_text(text)
    assert main(tmp_path) == bool(fault)
    assert capsys.readouterr().out == (f"podium/a.py: {fault}\n" if fault else "")


def test_a_long_line_of_a_template_is_a_fault(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("podium/a.py", "templates/podium/a.html"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text(SAID)
    assert main(tmp_path) == 0
    (tmp_path / "templates/podium/a.html").write_text("–" * MAX_TEMPLATE_LINE + "\n" + "–" * (MAX_TEMPLATE_LINE + 1))
    assert main(tmp_path) == 1
    assert capsys.readouterr().out == "templates/podium/a.html:2: 121 characters; 120 are the most\n"


def test_migrations_are_left_out_and_nothing_to_look_at_is_a_fault(tmp_path: Path) -> None:
    assert main(tmp_path) == 1
    for name in ("problems/migrations/0001.py", "problems/a.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x = 1\n" if "migrations" in name else SAID)
    assert main(tmp_path) == 0


def test_a_folder_of_the_site_is_small(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for place in range(MAX_FOLDER_MODULES + 1):
        for folder in ("leaderboard/web", "podium"):
            (tmp_path / folder).mkdir(parents=True, exist_ok=True)
            (tmp_path / folder / f"m{place}.py").write_text(SAID)
    (tmp_path / "leaderboard/web/__init__.py").write_text("")
    assert main(tmp_path) == 1
    assert capsys.readouterr().out == "leaderboard/web: 15 modules; 14 are the most\n"


@pytest.mark.parametrize(
    ("name", "is_fault"), [("Place", True), ("Command", False), ("Case", False), ("Subject", False), ("_Place", False)]
)
def test_two_public_classes_of_one_name(
    name: str, is_fault: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "podium").mkdir()
    for module in ("a", "b"):
        (tmp_path / "podium" / f"{module}.py").write_text(f"{SAID}class {name}:\n    pass\n")
    assert main(tmp_path) == is_fault
    words = f"{name} is a class of podium/a.py and of podium/b.py: one name for one thing\n"
    assert capsys.readouterr().out == (words if is_fault else "")


def test_a_name_that_is_no_longer_shared_leaves_the_list(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "podium").mkdir()
    (tmp_path / "podium" / "a.py").write_text(f"{SAID}class Subject:\n    pass\n")
    assert main(tmp_path) == 1
    assert "take it out of STILL_SHARED" in capsys.readouterr().out
