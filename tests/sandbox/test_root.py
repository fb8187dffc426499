"""The private root of sandboxes: agents that share a cache may stage it at once."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from runners.agent.sandbox.root import stage_etc


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
