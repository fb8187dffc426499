"""Checks and cleans a node's GPUs: golden program, peaks, scrubbing, health. An unhealthy GPU drains the whole node."""

import logging
import statistics
import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from functools import partial
from typing import Literal, Protocol

from runners.agent.devices import drift
from runners.agent.devices.ledger import Ledger, Run
from runners.agent.devices.occupants import describe
from runners.agent.devices.tool import DeviceFailed, Golden, MeasuredPeaks, Scrubbed
from runners.agent.ground.errors import SandboxFault, SiteRefused, SiteUnavailable
from runners.wire.health import GoldenReport, NodeHealth, NodeHealthReply, PeaksReport
from runners.wire.protocol import PROTOCOL_VERSION, GpuCapability, Peaks

logger = logging.getLogger(__name__)
LOOK_SECONDS = 30.0
GOLDEN_SECONDS = 3600.0
IDLE_SECONDS = 10.0
"""Maximum time for a job's killed processes to leave the GPU."""
MAX_UNSENT = 100


class Devices(Protocol):
    """The methods of `Gpus` that the keeper uses."""

    def trouble(self, uuid: str) -> str: ...
    def idle(self, uuid: str, timeout_seconds: float) -> bool: ...
    def process_ids(self, uuid: str) -> list[int]: ...


class Unwatched:
    """Devices of a machine without NVML. It reports neither errors nor processes."""

    def trouble(self, uuid: str) -> str:  # noqa: ARG002
        return ""

    def idle(self, uuid: str, timeout_seconds: float) -> bool:  # noqa: ARG002
        return True

    def process_ids(self, uuid: str) -> list[int]:  # noqa: ARG002
        return []


class Tool(Protocol):
    """The methods of `GpuTool` that the keeper uses."""

    @property
    def version(self) -> str: ...
    def scrub(self, uuid: str) -> Scrubbed: ...
    def golden(self, uuid: str) -> Golden: ...
    def peaks(self, uuid: str) -> MeasuredPeaks: ...


class Holder(Protocol):
    """The methods of `Lanes` that the keeper uses."""

    def hold(self, uuid: str) -> AbstractContextManager[None]: ...


def _nothing() -> None:
    pass


class Keeper:
    """Checks the GPUs and drains the node if one is unhealthy.

    Create the keeper before the lanes, which call `clean`. Call `begin` before any work, and `start` when the node can
    be drained. `send` sends health reports to the site. It may raise SiteUnavailable or SiteRefused.
    """

    def __init__(
        self,
        devices: Devices,
        gpus: Sequence[GpuCapability],
        tool: Tool,
        ledger: Ledger,
        send: Callable[[NodeHealth], NodeHealthReply],
    ) -> None:
        self._devices, self._tool, self._ledger, self._send = devices, tool, ledger, send
        # golden times depend on driver and golden program: a change of either begins a new history
        self._settings = {gpu.uuid: f"{gpu.name}, driver {gpu.driver}, {tool.version}" for gpu in gpus}
        self._peaks: dict[str, Peaks] = {}
        self._guard = threading.RLock()
        self._complaints: dict[str, str] = {}
        self._told = False
        self._golden: list[GoldenReport] = []
        self._measured: list[PeaksReport] = []
        self._drain: Callable[[str], None] = logger.error
        self._resume: Callable[[], None] = _nothing
        self._stopping, self._poked = threading.Event(), threading.Event()

    # -- calls from the node -------------------------------------------------------------------------------------------

    def begin(self, lanes: Holder) -> None:
        """Run the golden program and measure the peaks of every GPU, before any work. A failing GPU drains the node."""
        self._lanes = lanes
        for uuid in self._settings:
            self._run_golden(uuid)
            self._find_peaks(uuid)

    def start(self, drain: Callable[[str], None], resume: Callable[[], None]) -> None:
        """Check in the background. Calls `drain` with the reason, and `resume` after an organiser enabled the node."""
        with self._guard:
            self._drain, self._resume = drain, resume
            if self._complaints:
                drain(self._words())
        for work, name in ((self._look_for_ever, "gpu-trouble"), (self._golden_for_ever, "gpu-golden")):
            threading.Thread(target=work, name=name, daemon=True).start()

    def stop(self) -> None:
        """Ask the threads to end, without waiting: one of them may be stuck in a driver call."""
        self._stopping.set()
        self._poked.set()

    def complaint(self) -> str:
        """Check every GPU now, before a failed job is reported. Returns the reason why the node is drained, or ""."""
        for uuid in self._settings:
            if words := self._devices.trouble(uuid):
                self._complain(uuid, words)
        with self._guard:
            return self._words()

    def clean(self, uuid: str) -> None:
        """Scrub the GPU between tenants once all processes have left it. On failure drains and raises SandboxFault."""
        self.expect_nobody(uuid)
        try:
            self._tool.scrub(uuid)
        except DeviceFailed as error:
            raise self._unclean(uuid, str(error)) from error

    def expect_nobody(self, uuid: str) -> None:
        """Drain and raise SandboxFault if a process stays on the GPU."""
        if not self._devices.idle(uuid, IDLE_SECONDS):
            there = describe(self._devices.process_ids(uuid))
            raise self._unclean(uuid, f"a process is still on it {IDLE_SECONDS:g} s after its job ended: {there}")

    def _unclean(self, uuid: str, words: str) -> SandboxFault:
        self._complain(uuid, words)
        return SandboxFault(f"{uuid} cannot be cleaned for the next job: {words}")

    def peaks_of(self, uuid: str) -> Peaks:
        """The peaks that this node measured; empty if it could not measure them."""
        return self._peaks.get(uuid, Peaks())

    # -- checks ----------------------------------------------------------------------------------------------------

    def _look_for_ever(self) -> None:
        while not self._stopping.is_set():
            self._guarded(self._look)
            self._poked.wait(LOOK_SECONDS)
            self._poked.clear()

    def _golden_for_ever(self) -> None:
        while not self._stopping.wait(GOLDEN_SECONDS):
            for uuid in self._settings:
                self._guarded(partial(self._run_golden, uuid))
            self._poked.set()

    def _look(self) -> None:
        self.complaint()
        self._tell()

    def _guarded(self, work: Callable[[], None]) -> None:
        """Run one check. Log a bug of this program so that the checks go on."""
        try:
            work()
        except Exception:
            logger.exception("a check of the GPUs failed because of a bug in Podium")

    def _run_golden(self, uuid: str) -> None:
        """Run the golden program once the device is free."""
        with self._lanes.hold(uuid):
            try:
                golden = self._tool.golden(uuid)
            except DeviceFailed as error:
                self._complain(uuid, str(error))
            else:
                self._enter(uuid, golden)

    def _enter(self, uuid: str, golden: Golden) -> None:
        page = self._ledger.page(uuid, self._settings[uuid])
        run = Run(datetime.now(UTC), statistics.median(golden.compute_ms), statistics.median(golden.copy_ms))
        self._judge(uuid, "compute", [one.compute_ms for one in page.runs], golden.compute_ms, run.ran_at)
        self._judge(uuid, "copy", [one.copy_ms for one in page.runs], golden.copy_ms, run.ran_at)
        self._ledger.keep(uuid, page.with_run(run))

    def _judge(
        self,
        uuid: str,
        name: Literal["compute", "copy"],
        earlier: Sequence[float],
        times_ms: Sequence[float],
        ran_at: datetime,
    ) -> None:
        median_ms = statistics.median(times_ms)
        report = GoldenReport(
            gpu_uuid=uuid,
            name=name,
            median_ms=median_ms,
            low_ms=min(times_ms),
            high_ms=max(times_ms),
            drift=drift.drift(earlier, median_ms),
            ran_at=ran_at,
        )
        with self._guard:
            self._golden = [*self._golden, report][-MAX_UNSENT:]
        if drift.has_drifted([*earlier, median_ms]):
            change = f"{report.drift or 0:+.1%} from its median, for the second time in a row"
            self._complain(uuid, f"its golden {name} took {median_ms:.3f} ms, {change}")

    def _find_peaks(self, uuid: str) -> None:
        """Measure the peaks once a week. Only another driver should change them. Without them the node still works."""
        page = self._ledger.page(uuid, self._settings[uuid])
        found = page.fresh_peaks or self._measure_peaks(uuid)
        if found is None:
            return
        self._ledger.keep(uuid, page.model_copy(update={"peaks": found}))
        with self._guard:
            self._peaks[uuid] = found.peaks
            self._measured.append(found)

    def _measure_peaks(self, uuid: str) -> PeaksReport | None:
        try:
            with self._lanes.hold(uuid):
                measured = self._tool.peaks(uuid)
        except DeviceFailed as error:
            logger.error("the peaks of %s cannot be measured: %s", uuid, error)
            return None
        for kind, why in measured.missing.items():
            logger.warning("no peak of %s for %s: %s", uuid, kind, why)
        how = {kind: words[:200] for kind, words in {**measured.missing, **measured.how}.items()}
        return PeaksReport(gpu_uuid=uuid, peaks=measured.peaks, how=how, measured_at=datetime.now(UTC))

    # -- draining --------------------------------------------------------------------------------------------------

    def _words(self) -> str:
        return "; ".join(f"{uuid}: {words}" for uuid, words in self._complaints.items())[:400]

    def _complain(self, uuid: str, words: str) -> None:
        """Record a GPU's first error. It stands until an organiser has enabled the node."""
        with self._guard:
            if uuid in self._complaints:
                return
            self._complaints[uuid] = words
            self._told = False
            logger.error("draining: %s", self._words())
            self._drain(self._words())
        self._poked.set()

    def _tell(self) -> None:
        """Report news to the site. While the node is drained, ask whether an organiser has enabled it again."""
        with self._guard:
            golden, measured, drain = self._golden, self._measured, "" if self._told else self._words()
            if not (golden or measured or self._complaints):
                return
        try:
            reply = self._send(
                NodeHealth(protocol_version=PROTOCOL_VERSION, golden=golden, peaks=measured, drain=drain)
            )
        except SiteUnavailable as error:
            logger.warning("the health of the GPUs cannot be reported to the site: %s", error)
            return
        except SiteRefused as refused:
            logger.error("the site refused the report on the health of the GPUs: %s", refused)
            return
        self._was_told(golden, measured, drain, reply)

    def _was_told(
        self, golden: list[GoldenReport], measured: list[PeaksReport], drain: str, reply: NodeHealthReply
    ) -> None:
        with self._guard:
            self._golden = [one for one in self._golden if one not in golden]
            self._measured = [one for one in self._measured if one not in measured]
            self._told = self._told or bool(drain and drain == self._words())
            enabled_again = self._told and not drain and not reply.disabled_reason
            forgiven = dict(self._complaints) if enabled_again else {}
        if forgiven:
            self._forgive(forgiven)

    def _forgive(self, complaints: dict[str, str]) -> None:
        """Clear the errors after an organiser has enabled the node, begin a new golden history and check again."""
        logger.info("enabled again by an organiser")
        with self._guard:
            self._complaints.clear()
            self._told = False
        for uuid in complaints:
            page = self._ledger.page(uuid, self._settings[uuid])
            self._ledger.keep(uuid, page.model_copy(update={"runs": []}))
            self._run_golden(uuid)
        with self._guard:
            if not self._complaints:
                self._resume()
