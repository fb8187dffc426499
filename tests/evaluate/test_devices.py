"""GPUs are cleaned for the first pack while other things are made ready, and between packs."""

import threading
from types import SimpleNamespace
from typing import Any

import pytest

from podium.evaluation.devices import CleanedAhead, LocalGpus
from runners.agent import capabilities
from runners.agent.devices.gpus import Gpus
from runners.agent.devices.tool import GpuTool
from runners.agent.ground.errors import SandboxFault
from tests.patience import SOON


class Cleaner:
    """Cleans once it may, and fails where it is told to."""

    def __init__(self) -> None:
        self.may = threading.Event()
        self.may.set()
        self.fails = self.somebody_came = False
        self.cleaned: list[str] = []

    def clean(self, uuid: str) -> None:
        self.may.wait(SOON)
        if self.fails:
            raise SandboxFault("unclean")
        self.cleaned.append(uuid)

    def expect_nobody(self, _uuid: str) -> None:
        if self.somebody_came:
            raise SandboxFault("somebody came")


@pytest.fixture
def cleaner() -> Cleaner:
    return Cleaner()


def test_what_was_cleaned_ahead_is_not_cleaned_for_the_first_pack_again(cleaner: Cleaner) -> None:
    clean = CleanedAhead(cleaner, ["one", "two"])
    clean("one")
    clean.wait()
    assert sorted(cleaner.cleaned) == ["one", "two"]
    clean("one")
    assert sorted(cleaner.cleaned) == ["one", "one", "two"], "for the second pack"


def test_the_first_pack_waits_until_its_device_is_clean(cleaner: Cleaner) -> None:
    cleaner.may.clear()
    clean = CleanedAhead(cleaner, ["one"])
    came_in = threading.Event()
    threading.Thread(target=lambda: (clean("one"), came_in.set()), daemon=True).start()
    assert not came_in.wait(0.1)
    cleaner.may.set()
    assert came_in.wait(SOON)
    assert cleaner.cleaned == ["one"]


def test_who_comes_in_is_told_that_cleaning_ahead_failed_and_may_try_again(cleaner: Cleaner) -> None:
    cleaner.fails = True
    clean = CleanedAhead(cleaner, ["one"])
    clean.wait()
    with pytest.raises(SandboxFault, match="unclean"):
        clean("one")
    cleaner.fails = False
    clean("one")
    assert cleaner.cleaned == ["one"]


def test_who_came_to_the_device_after_it_was_cleaned_is_seen(cleaner: Cleaner) -> None:
    clean = CleanedAhead(cleaner, ["one"])
    clean.wait()
    cleaner.somebody_came = True
    with pytest.raises(SandboxFault, match="somebody came"):
        clean("one")


def test_peaks_are_measured_on_a_device_that_is_clean(cleaner: Cleaner) -> None:
    cleaner.may.clear()
    log: list[str] = []
    keeper: Any = SimpleNamespace(begin=lambda lanes: log.append(f"{lanes}, {cleaner.cleaned} clean"))
    threading.Timer(0.1, cleaner.may.set).start()
    LocalGpus([], keeper=keeper).measure_peaks("lanes", CleanedAhead(cleaner, ["one"]))  # type: ignore[arg-type]
    assert log == ["lanes, ['one'] clean"]


def test_a_driver_without_gpus_is_closed_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    closed = threading.Event()
    monkeypatch.setattr(Gpus, "open", lambda: SimpleNamespace(capabilities=list, close=closed.set))
    opened = LocalGpus.open(tmp_path)
    assert (opened.found, opened.gpus, opened.clean_ahead(), opened.keeper) == ([], None, None, None)
    assert closed.is_set()


def test_without_the_drivers_library_nvidia_smi_is_asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.setattr(Gpus, "open", lambda: None)
    monkeypatch.setattr(capabilities, "_output", lambda arguments: "GPU-smi, NVIDIA L4, 8.9, 23034, 580.1\n")
    monkeypatch.setattr(GpuTool, "build", lambda folder: SimpleNamespace(version="podium-gpu 1"))
    opened = LocalGpus.open(tmp_path)
    assert ([gpu.uuid for gpu in opened.found], opened.gpus) == (["GPU-smi"], None)
    assert opened.keeper is not None
