"""Wire types between the site and its nodes; the only thing the two sides share.

Everything crosses HTTP as JSON. Times are milliseconds, sizes bytes, digests lower-case sha256 in hex.
A node says which `PROTOCOL_VERSION` it speaks; a site that speaks another answers 426.
"""

from enum import StrEnum
from typing import Annotated, Literal
from uuid import UUID

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, FiniteFloat

PROTOCOL_VERSION = 1
JUDGE_VERSION = "1"
"""Version of the rules that turn runs into verdicts; part of an evaluation's identity."""

INLINE_LOG_BYTES = 16 * 1024
"""Longer logs travel as blobs."""
MAX_BLOB_BYTES = 256 * 1024 * 1024

MIN_TIME_MS, MAX_TIME_MS = 1e-6, 1e9
"""What a time may be. Beyond, it is a number that somebody printed; ratios within stay finite."""

TimeMs = Annotated[FiniteFloat, Field(ge=MIN_TIME_MS, le=MAX_TIME_MS)]
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class WireModel(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True, allow_inf_nan=False)


class Stage(StrEnum):
    """What a job asks a node to do."""

    BOTH = "both"
    BUILD = "build"
    RUN = "run"


class Verdict(StrEnum):
    PASSED = "passed"
    BUILD_FAILED = "build_failed"
    TEST_FAILED = "test_failed"
    TIMED_OUT = "timed_out"
    MEMORY_EXCEEDED = "memory_exceeded"
    SOURCE_REFERENCE_MISSING = "source_reference_missing"
    INVALID = "invalid"
    WRONG_ANSWER = "wrong_answer"
    SKIPPED = "skipped"
    PLATFORM_ERROR = "platform_error"


NOT_THE_CONTESTANTS = frozenset({Verdict.SKIPPED, Verdict.PLATFORM_ERROR})


class Witness(StrEnum):
    """Whether something outside the contestant's process saw the harness's own code reach its end."""

    SEEN = "seen"
    CONTRADICTED = "contradicted"
    UNAVAILABLE = "unavailable"


class WorkStage(StrEnum):
    """Where an attempt stands, as heartbeats tell it."""

    PREPARING = "preparing"
    BUILDING = "building"
    TESTING = "testing"
    BENCHMARKING = "benchmarking"
    REPORTING = "reporting"


class TimingPolicy(StrEnum):
    QUICK = "quick"
    RANKED = "ranked"


class Profiler(StrEnum):
    NONE = "none"
    CUPTI = "cupti"
    NCU = "ncu"


class Clock(StrEnum):
    OUTSIDE = "outside"
    IN_PROCESS = "in_process"
    SELF = "self"


class Role(StrEnum):
    CANDIDATE = "candidate"
    BASELINE = "baseline"


class FlagScope(StrEnum):
    VERDICT = "verdict"
    TIME = "time"


class BlobRef(WireModel):
    sha256: Sha256
    size_bytes: int = Field(ge=0, le=MAX_BLOB_BYTES)


class Grant(WireModel):
    """What a node may serve."""

    track: str
    stage: Stage


class Capabilities(WireModel):
    """What a node found out about its own machine."""

    hostname: str = ""
    cpu_model: str = ""
    cpu_cores: int = 0
    memory_bytes: int = 0
    architecture: str = ""
    kernel: str = ""
    gpus: list["GpuCapability"] = []
    toolkits: dict[str, str] = {}
    """Program name to version, as `g++: 12.2.0`."""
    sandbox: str = ""
    memory_limit_by: str = ""
    memory_limit_why: str = ""
    """What keeps the machine from bounding memory by control groups; empty where it does."""
    profilers: list[Profiler] = []
    agent_version: str = ""


class GpuCapability(WireModel):
    uuid: str
    name: str
    compute_capability: str
    memory_bytes: int = 0
    driver: str = ""
    pci_bus_id: str = ""
    sm_clock_mhz: FiniteFloat | None = None
    """Highest; likewise the memory's."""
    memory_clock_mhz: FiniteFloat | None = None
    power_limit_w: FiniteFloat | None = None
    ecc: bool | None = None
    profiling_admin_only: bool | None = None
    """Whether the driver keeps the hardware counters for root: then `ncu` works for no contestant."""


class Hello(WireModel):
    protocol_version: int
    capabilities: Capabilities


class HelloReply(WireModel):
    node: str
    grants: list[Grant]
    lease_seconds: float
    heartbeat_seconds: float
    disabled_reason: str = ""


class ClaimRequest(WireModel):
    protocol_version: int
    grants: list[Grant] = Field(max_length=64)
    free_slots: int = Field(ge=1, le=256)
    boot_id: UUID
    """Drawn at agent start: leases of an earlier life of this node are given back at once."""


class TrackSpec(WireModel):
    slug: str
    device: Literal["cpu", "gpu"]
    hardware_name: str = ""
    """The GPU or CPU model that it is for; a node with several kinds of GPU runs it on this one."""
    toolkit: str = ""
    compute_capability: str = ""
    image: str = ""
    """Image digest for the Docker sandbox; empty means the node's own root."""
    image_policy: str = "default"


class ResourceLimits(WireModel):
    """Bounds on one command. `wall_seconds` comes from the problem when it names a timeout."""

    memory_bytes: int = Field(default=8 << 30, gt=0)
    processes: int = Field(default=256, gt=0)
    file_bytes: int = Field(default=1 << 30, gt=0)
    workspace_bytes: int = Field(default=2 << 30, gt=0)
    output_bytes: int = Field(default=1 << 20, gt=0)
    build_seconds: float | None = None
    """Overrides the problem's own timeout where set."""


class ArtefactRef(WireModel):
    """The product of a build: content-addressed by everything that went into it."""

    key: Sha256
    blob: BlobRef
    node: str


class Work(WireModel):
    """One attempt at one job, with all a node needs to do it."""

    attempt: UUID
    attempt_token: str
    number: int
    stage: Stage
    evaluation: int
    submission: int
    lease_seconds: float
    heartbeat_seconds: float
    track: TrackSpec
    judge_version: str
    problem: BlobRef
    """The problem's record, one JSON line as in its pack."""
    profile: str
    """Pack profile the record is read under: `compute-eval` or `podium/1`."""
    build_only: list[str] | None = None
    """Paths withheld at run time; null means not yet known, so withhold none."""
    try_withholding: list[str] = []
    """While verifying: report whether the reference passes without these."""
    solution: BlobRef
    timing_policy: TimingPolicy
    profiler: Profiler = Profiler.NONE
    limits: ResourceLimits = ResourceLimits()
    artefact: ArtefactRef | None = None
    needs_baseline: bool = True


class Claim(WireModel):
    work: list[Work]


class Heartbeat(WireModel):
    stage: WorkStage
    log_tail: str = Field(default="", max_length=16 * 1024)


class HeartbeatReply(WireModel):
    cancel: bool
    lease_seconds: float


class LogText(WireModel):
    """A log: inline when short, else a blob. `truncated` says that the command printed more than is kept."""

    text: str = Field(default="", max_length=INLINE_LOG_BYTES)
    blob: BlobRef | None = None
    truncated: bool = False


class StepReport(WireModel):
    """One command as it was run: its end, its cost and what it printed."""

    name: Literal["build", "test", "benchmark"]
    exit_code: int | None = None
    signal: int | None = None
    timed_out: bool = False
    memory_exceeded: bool = False
    wall_ms: FiniteFloat = Field(default=0.0, ge=0)
    cpu_ms: FiniteFloat = Field(default=0.0, ge=0)
    peak_memory_bytes: int = Field(default=0, ge=0)
    cached: bool = False
    witness: Witness = Witness.UNAVAILABLE
    log: LogText = LogText()


class MeasurementReport(WireModel):
    """The timing of one benchmark case. `runs_ms` holds one median per process, in the order they ran."""

    role: Role
    case: str = Field(default="", max_length=200)
    median_ms: TimeMs
    ci_low_ms: TimeMs | None = None
    ci_high_ms: TimeMs | None = None
    runs_ms: list[TimeMs] = Field(max_length=1000)
    clock: Clock
    work_checked: bool = False
    witness: Witness = Witness.UNAVAILABLE
    shared: bool = False
    """A baseline measured once for many results; `key` names it."""
    key: str = Field(default="", max_length=200)
    measured_at: str = ""
    device: dict[str, FiniteFloat | str] = Field(default={}, max_length=32)
    """What was seen of the GPU from outside meanwhile, as `sm_clock_mhz: 1980.0`."""


class FlagReport(WireModel):
    code: str = Field(max_length=60, pattern=r"^[a-z][a-z0-9_]*$")
    scope: FlagScope
    detail: str = Field(default="", max_length=2000)


class Peaks(WireModel):
    """A device's ceilings as its node measured them."""

    gbps: FiniteFloat | None = Field(default=None, gt=0)
    """Copy bandwidth, bytes read and written, 1e9 bytes a second."""
    gflops: dict[str, Annotated[FiniteFloat, Field(gt=0)]] = Field(default={}, max_length=16)
    """Matrix products by data type, 1e9 operations a second."""
    l2_bytes: int = Field(default=0, ge=0)


class Provenance(WireModel):
    """Where and by what a result was made; stored as a snapshot on the result."""

    node: str = ""
    agent_version: str = ""
    judge_version: str = JUDGE_VERSION
    sandbox: str = ""
    memory_limit_by: str = ""
    cpu_model: str = ""
    cpu_cores: int = 0
    kernel: str = ""
    gpu: str = ""
    gpu_uuid: str = ""
    driver: str = ""
    toolkit: str = ""
    image: str = ""
    artefact_key: str = ""
    build_cached: bool = False
    timing_policy: str = ""
    arch: str = ""
    """Target architecture that builds were given where the problem names none, as `sm_90`."""
    build_policy: str = ""
    """`compute-eval` where builds ran as the problem wrote them, else the track's image policy."""
    profiler: str = ""
    """Name and version, as `cupti 13.0`."""
    peaks: Peaks = Peaks()
    started_at: str = ""
    finished_at: str = ""


class Report(WireModel):
    """What came of an attempt. A `fault` is ours, not the contestant's, and sends the job back to the queue."""

    verdict: Verdict
    reason: str = Field(default="", max_length=4000)
    steps: list[StepReport] = Field(default=[], max_length=16)
    measurements: list[MeasurementReport] = Field(default=[], max_length=256)
    flags: list[FlagReport] = Field(default=[], max_length=64)
    witness: Witness = Witness.UNAVAILABLE
    speedup: FiniteFloat | None = Field(default=None, gt=0)
    provenance: Provenance
    artefact: ArtefactRef | None = None
    """Set by a `build` job; names a blob already put."""
    profile: BlobRef | None = None
    """A profiler's own report, such as ncu's; names a blob already put."""
    withheld: list[str] | None = None
    """While verifying: the paths without which the reference still passed test and benchmark."""
    fault: str = Field(default="", max_length=4000)


class ReportReply(WireModel):
    result: int | None
    duplicate: bool = False


GpuUuid = Annotated[str, Field(pattern=r"^(GPU|MIG)-[0-9A-Za-z/-]{1,100}$")]


class GoldenReport(WireModel):
    """One run of the golden program on a GPU: six times of one of its parts."""

    gpu_uuid: GpuUuid
    name: Literal["compute", "copy"]
    median_ms: TimeMs
    low_ms: TimeMs
    high_ms: TimeMs
    drift: FiniteFloat | None = None
    """How far the median lies from that of the last 20, as 0.01 for 1 % slower; null while too few are known."""
    ran_at: AwareDatetime


class PeaksReport(WireModel):
    """The ceilings of one GPU, as its node measured them."""

    gpu_uuid: GpuUuid
    peaks: Peaks
    how: dict[str, Annotated[str, Field(max_length=200)]] = Field(default={}, max_length=16)
    """By data type: what reached the ceiling, or why none is known."""
    measured_at: AwareDatetime


class NodeHealth(WireModel):
    """How a node's GPUs fare. With `drain`, a reason in words, the node stops claiming and asks to be disabled."""

    protocol_version: int
    golden: list[GoldenReport] = Field(default=[], max_length=128)
    peaks: list[PeaksReport] = Field(default=[], max_length=64)
    drain: str = Field(default="", max_length=400)


class NodeHealthReply(WireModel):
    """A drained node works again once `disabled_reason` is empty: an organiser has enabled it."""

    disabled_reason: str = ""


class WireError(WireModel):
    """The body of every refusal: a stable code and words for a person."""

    code: str
    message: str
    missing: list[str] = []
