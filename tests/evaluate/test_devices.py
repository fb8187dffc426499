"""GPUs are cleaned for the first pack while other things are made ready, and between packs."""

import threading

import pytest

from podium.evaluation.devices import CleanedAhead
from runners.agent.sandbox.policy import SandboxFault

SOON = 5.0


class Cleaner:
    """Cleans once it may, and fails where it is told to."""

    def __init__(self) -> None:
        self.may = threading.Event()
        self.fails = False
        self.cleaned: list[str] = []

    def clean(self, uuid: str) -> None:
        self.may.wait(SOON)
        if self.fails:
            raise SandboxFault("unclean")
        self.cleaned.append(uuid)


def test_what_was_cleaned_ahead_is_not_cleaned_for_the_first_pack_again() -> None:
    cleaner = Cleaner()
    clean = CleanedAhead(cleaner.clean, ["one", "two"])
    cleaner.may.set()
    clean("one")
    clean.wait()
    assert sorted(cleaner.cleaned) == ["one", "two"]
    clean("one")
    assert sorted(cleaner.cleaned) == ["one", "one", "two"], "for the second pack"


def test_the_first_pack_waits_until_its_device_is_clean() -> None:
    cleaner = Cleaner()
    clean = CleanedAhead(cleaner.clean, ["one"])
    came_in = threading.Event()
    threading.Thread(target=lambda: (clean("one"), came_in.set()), daemon=True).start()
    assert not came_in.wait(0.1)
    cleaner.may.set()
    assert came_in.wait(SOON)
    assert cleaner.cleaned == ["one"]


def test_who_comes_in_is_told_that_cleaning_ahead_failed_and_may_try_again() -> None:
    cleaner = Cleaner()
    cleaner.fails = True
    cleaner.may.set()
    clean = CleanedAhead(cleaner.clean, ["one"])
    clean.wait()
    with pytest.raises(SandboxFault, match="unclean"):
        clean("one")
    cleaner.fails = False
    clean("one")
    assert cleaner.cleaned == ["one"]
