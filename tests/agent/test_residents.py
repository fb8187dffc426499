"""Processes of the judge itself are no strangers on a GPU, with all their descendants and no others."""

import os
import subprocess
from collections.abc import Iterator

import pytest

from runners.agent.devices.residents import Residents
from tests.patience import until


@pytest.fixture
def family() -> Iterator[int]:
    """A process with a child and a grandchild."""
    with subprocess.Popen(["sh", "-c", "sh -c 'sleep 600; true'; true"], start_new_session=True) as process:
        yield process.pid
        os.killpg(process.pid, 9)


def test_all_descendants_of_a_resident_are_residents(family: int) -> None:
    residents = Residents()
    residents.admit(family)
    assert until(lambda: len(residents.ids()) == 3)
    assert family in residents.ids()
    assert os.getpid() not in residents.ids()


def test_a_resident_that_was_dismissed_is_a_stranger(family: int) -> None:
    residents = Residents()
    residents.admit(family)
    residents.dismiss(family)
    assert residents.ids() == frozenset()
