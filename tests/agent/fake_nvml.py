"""A stand-in for pynvml where there is no NVIDIA driver: answers recorded on an H200, which a test may change.

Constants and errors are pynvml's own. `tests/gpu/record_nvml.py` makes new recordings.
"""
# ruff: noqa: N802 - the functions' names are NVIDIA's

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from queue import Empty, Queue
from types import SimpleNamespace
from typing import Any

import pynvml

from runners.agent.devices.activity import now_us

RECORDED = Path(__file__).parent / "data" / "nvml-h200.json"
NOT_SUPPORTED = {"error": pynvml.NVML_ERROR_NOT_SUPPORTED}
LOST = {"error": pynvml.NVML_ERROR_GPU_IS_LOST}


class FakeNvml:
    """`answers` maps `function` or `function(arguments)` to what it returns, `handle:function` to one device's.

    `{"error": number}` is raised; an object becomes a structure; what is not in it is not supported.
    """

    def __init__(self, phase: str = "idle", clock_us: Callable[[], int] = now_us) -> None:
        recording = json.loads(RECORDED.read_text())
        self.answers: dict[str, Any] = recording[phase]
        self.fields = {int(number): value for number, value in recording.get("fields", {}).items()}
        self.asked: Counter[str] = Counter()
        """How often each function was called."""
        self.utilisation: list[tuple[int, int]] = []
        """End of a period in microseconds of the clock, and its percentage."""
        self._clock_us = clock_us
        self.events: Queue[Any] = Queue()
        self.freed = False

    def work(self) -> None:
        """From now on the device answers as it did under load."""
        self.answers = json.loads(RECORDED.read_text())["busy"]

    def raise_xid(self, number: int, device: str = "board0", instance: int = 0xFFFFFFFF) -> None:
        self.events.put(SimpleNamespace(device=device, gpuInstanceId=instance, eventData=number))

    def __getattr__(self, name: str) -> Any:
        real = getattr(pynvml, name)
        if not name.startswith("nvml") or not callable(real):
            return real
        return lambda *arguments: self._answer(name, *arguments)

    def _answer(self, name: str, *arguments: Any) -> Any:
        self.asked[name] += 1
        device = arguments[0] if arguments and isinstance(arguments[0], str) else ""
        rest = ",".join(map(str, arguments[1:] if device else arguments))
        key = f"{name}({rest})" if rest else name
        answer = self.answers.get(f"{device}:{key}", self.answers.get(key, NOT_SUPPORTED))
        return _decoded(answer)

    def nvmlInit(self) -> None: ...

    def nvmlShutdown(self) -> None: ...

    def nvmlDeviceGetHandleByIndex(self, index: int) -> str:
        return f"board{index}"

    def nvmlDeviceGetSamples(self, device: str, kind: int, after_us: int) -> Any:
        assert kind == pynvml.NVML_GPU_UTILIZATION_SAMPLES
        self.asked["nvmlDeviceGetSamples"] += 1
        known = [(at, value) for at, value in self.utilisation if after_us < at <= self._clock_us()]
        if not known:
            raise pynvml.NVMLError(pynvml.NVML_ERROR_NOT_FOUND)
        return 1, [SimpleNamespace(timeStamp=at, sampleValue=SimpleNamespace(uiVal=value)) for at, value in known]

    def nvmlDeviceGetFieldValues(self, device: str, numbers: list[int]) -> list[Any]:
        return [self._field(number) for number in numbers]

    def _field(self, number: int) -> Any:
        value = self.fields.get(number)
        refusal = pynvml.NVML_ERROR_NOT_SUPPORTED if value is None else pynvml.NVML_SUCCESS
        return SimpleNamespace(fieldId=number, nvmlReturn=refusal, value=SimpleNamespace(uiVal=value or 0))

    def nvmlEventSetCreate(self) -> str:
        return "events"

    def nvmlDeviceRegisterEvents(self, device: str, kinds: int, events: str) -> None:
        assert kinds == pynvml.nvmlEventTypeXidCriticalError

    def nvmlEventSetWait_v2(self, events: str, timeout_ms: int) -> Any:
        try:
            return self.events.get(timeout=timeout_ms / 1e3)
        except Empty:
            raise pynvml.NVMLError(pynvml.NVML_ERROR_TIMEOUT) from None

    def nvmlEventSetFree(self, events: str) -> None:
        self.freed = True


def _decoded(answer: Any) -> Any:
    if isinstance(answer, dict) and "error" in answer:
        raise pynvml.NVMLError(answer["error"])
    if isinstance(answer, dict):
        return SimpleNamespace(**answer)
    return [_decoded(each) for each in answer] if isinstance(answer, list) else answer
