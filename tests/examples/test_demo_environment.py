"""`make demo` refuses in words what cannot work."""

from pathlib import Path

import pytest

from demo.environment import DemoRefused, hold


def test_a_second_demo_in_one_folder_is_told_where_the_first_one_runs(tmp_path: Path) -> None:
    with hold(tmp_path, 8123), pytest.raises(DemoRefused, match=r"already, at http://127\.0\.0\.1:8123"):
        hold(tmp_path, 8124)


def test_a_demo_that_ended_leaves_the_folder_to_the_next(tmp_path: Path) -> None:
    hold(tmp_path, 8123).close()
    with hold(tmp_path, 8124):
        assert (tmp_path / "demo.lock").read_text() == "http://127.0.0.1:8124"
