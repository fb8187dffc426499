"""Checks a GPU's health: Xid errors, uncorrectable memory errors, rows that cannot be remapped, a lost device."""

from collections.abc import Mapping
from threading import Event, Lock, Thread
from typing import Any

from runners.agent.devices.nvml import NO_INSTANCE, Nvml

WAIT_MS = 200
APPLICATION_XIDS = frozenset({13, 31, 32, 43, 45, 68, 69, 109})
"""Errors that a faulty or hostile program can cause. They are ignored so that no contestant can drain a node.

NVIDIA's Kubernetes device plugin ignores 13, 31, 43, 45, 68 and 109. 32 and 69 concern the commands that user space
writes for the device.
"""
XID_MEANINGS = {
    48: "an uncorrectable (double-bit) memory error",
    61: "its microcontroller stopped at a breakpoint",
    62: "its microcontroller halted",
    63: "a faulty memory row or page was marked for retirement",
    64: "a faulty memory row or page could not be retired",
    74: "an NVLink error",
    79: "it has fallen off the bus",
    92: "a high rate of corrected memory errors",
    94: "a contained uncorrectable memory error",
    95: "an uncontained uncorrectable memory error",
    110: "a security fault",
    119: "its system processor (GSP) does not answer the driver",
    120: "its system processor (GSP) failed",
    140: "an uncorrectable memory error",
    143: "it could not be initialised",
}
RECOVERY_ACTIONS = {
    1: "a reset of the GPU",
    2: "a reboot of the machine",
    3: "its peers to be drained",
    4: "it to be drained and reset",
    5: "its fabric domain to be recovered",
    6: "a reset of its bus",
    7: "a reboot of the machine",
}


class Health:
    """Listens for critical errors and compares error counters with their values at its creation."""

    def __init__(self, nvml: Nvml, boards: Mapping[str, Any]) -> None:
        """`boards` maps each UUID to its physical GPU."""
        self._nvml = nvml
        self._boards = boards
        self._errors_before = {uuid: uncorrectable_errors(nvml, board) for uuid, board in boards.items()}
        self._xids = XidListener(nvml, list(boards.values()))

    def trouble(self, uuid: str, gpu_instance: int | None) -> str:
        """All errors in words, or ""."""
        board = self._boards[uuid]
        lost = self._nvml.why_lost(board)
        complaints = [
            f"the driver has lost it ({lost})" if lost else "",
            *(xid_words(xid) for xid in self._xids.seen(board, gpu_instance) if is_device_trouble(xid)),
            self._memory_errors(uuid),
            retirement_words(self._nvml, board),
            recovery_words(self._nvml, board),
        ]
        return "; ".join(filter(None, complaints))

    def _memory_errors(self, uuid: str) -> str:
        before = self._errors_before[uuid]
        now = uncorrectable_errors(self._nvml, self._boards[uuid])
        if before is None or now is None or now <= before:
            return ""
        return f"{now - before:.0f} uncorrectable memory errors (ECC) since the node started"

    def close(self) -> None:
        self._xids.close()


def uncorrectable_errors(nvml: Nvml, board: Any) -> float | None:
    """Uncorrectable ECC errors since the driver was loaded; None if the card has no ECC or it is off."""
    api = nvml.api
    return nvml.number(
        "nvmlDeviceGetTotalEccErrors", board, api.NVML_MEMORY_ERROR_TYPE_UNCORRECTED, api.NVML_VOLATILE_ECC
    )


def retirement_words(nvml: Nvml, board: Any) -> str:
    """A message about faulty memory that waits for its retirement or could not be retired, or "".

    The driver retires memory by rows since Ampere, by pages before.
    """
    rows = nvml.ask("nvmlDeviceGetRemappedRows", board)
    if rows is not None and rows[3]:
        return "a faulty memory row could not be remapped: replace the card"
    if rows is not None and rows[2]:
        return "a faulty memory row waits to be remapped: reset the GPU"
    if nvml.ask("nvmlDeviceGetRetiredPagesPendingStatus", board):
        return "faulty memory pages wait to be retired: reset the GPU"
    return ""


def recovery_words(nvml: Nvml, board: Any) -> str:
    """The action that the driver asks for (drivers since 570), in words, or ""."""
    action = nvml.field(board, nvml.api.NVML_FI_DEV_GET_GPU_RECOVERY_ACTION)
    return f"the driver asks for {RECOVERY_ACTIONS.get(action, f'recovery action {action}')}" if action else ""


def is_device_trouble(xid: int) -> bool:
    """Whether an Xid is the device's fault: every number that is not in APPLICATION_XIDS, unknown ones included."""
    return xid not in APPLICATION_XIDS


def xid_words(xid: int) -> str:
    return f"Xid {xid}: {XID_MEANINGS.get(xid, 'see the list of Xid errors in NVIDIA’s documentation')}"


class XidListener:
    """A thread that waits for critical errors. It reports none if the driver offers no events."""

    def __init__(self, nvml: Nvml, boards: list[Any]) -> None:
        self._nvml = nvml
        self._lock = Lock()
        self._heard: list[tuple[Any, int, int]] = []
        self._stop = Event()
        self._thread: Thread | None = None
        self._events = nvml.ask("nvmlEventSetCreate")
        registered = [self._registered(board) for board in boards] if self._events is not None else []
        if any(registered):
            self._thread = Thread(target=self._listen, name="podium-xid", daemon=True)
            self._thread.start()

    def _registered(self, board: Any) -> bool:
        api = self._nvml.api
        try:
            api.nvmlDeviceRegisterEvents(board, api.nvmlEventTypeXidCriticalError, self._events)
        except api.NVMLError:
            return False
        return True

    def _listen(self) -> None:
        api = self._nvml.api
        while not self._stop.is_set():
            try:
                event = api.nvmlEventSetWait_v2(self._events, WAIT_MS)
            except api.NVMLError as error:
                if error.value != api.NVML_ERROR_TIMEOUT:
                    self._stop.wait(WAIT_MS / 1e3)  # a lost device fails at once, again and again
                continue
            with self._lock:
                self._heard.append((event.device, int(event.gpuInstanceId), int(event.eventData)))

    def seen(self, board: Any, gpu_instance: int | None) -> list[int]:
        """Xid numbers of a board since the start, each once. Those of other MIG instances are left out."""
        ours = (NO_INSTANCE, gpu_instance)
        with self._lock:
            heard = list(self._heard)
        return sorted(
            {
                xid
                for device, instance, xid in heard
                if self._nvml.same(device, board) and (gpu_instance is None or instance in ours)
            }
        )

    def close(self) -> None:
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
        if self._events is not None:
            self._nvml.ask("nvmlEventSetFree", self._events)
