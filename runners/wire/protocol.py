"""Wire types between the site and its nodes. The two sides share nothing else.

All values travel over HTTP as JSON. Times are milliseconds, sizes bytes, digests lower-case sha256 in hex. A node sends
its `PROTOCOL_VERSION`. A site serves the versions in `SERVED_VERSIONS` and answers 426 to any other.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat

from problems.spec.kinds import Kind
from problems.spec.ranking import TimingPolicy as TimingPolicy  # noqa: PLC0414 - one of the wire's own words

PROTOCOL_VERSION = 3
SERVED_VERSIONS = (PROTOCOL_VERSION - 1, PROTOCOL_VERSION)
"""The site is upgraded first, then node by node. The two versions differ in the shape of `Work` alone."""
JUDGE_VERSIONS: Mapping[Kind, str] = {
    Kind.COMMAND: "command/3",
    Kind.FUNCTION: "function/8",
    Kind.CHOICE: "choice/2",
    Kind.SHORT_ANSWER: "short_answer/2",
}
"""Version of the rules that make verdicts from runs, by kind of problem. It is part of an evaluation's identity.

Evaluations from before versions by kind have version `1`.
"""

INLINE_LOG_BYTES = 16 * 1024
"""Longer logs travel as blobs."""
MAX_INLINE_CALLS = 2000
MAX_BLOB_BYTES = 256 * 1024 * 1024
MAX_CASES = 256

UNCHECKED_SPEEDUP = 3.0
"""A larger speedup waits for a person if nothing checks that the timed runs did their work."""
MIN_TIME_MS, MAX_TIME_MS = 1e-6, 1e9
"""Bounds of a time. They keep ratios finite. A value outside them is not a measurement."""

TimeMs = Annotated[FiniteFloat, Field(ge=MIN_TIME_MS, le=MAX_TIME_MS)]
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
StageName = Annotated[str, Field(pattern=r"^[a-z][a-z_]{0,19}$")]
"""The stage of an attempt: one of the fleet's own, or one that its judge names."""
StepName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,39}$")]
"""Name of one of a judge's commands. Its log is shown under this name."""

Count = Annotated[int, Field(ge=-(2**53), le=2**53)]

PREPARING, REPORTING = "preparing", "reporting"
"""The fleet's own stages, before and after those of the judge."""
BUILDING = "building"
"""The stage of a build. Only its output may be shown to the team while the work goes on."""
BUILD_STEP = "build"
"""The step whose log the team may read. Logs of other steps may quote held-out files."""


class WireModel(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True, allow_inf_nan=False)


class Stage(StrEnum):
    """The work that a job asks of a node."""

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


class Audience(StrEnum):
    """The readers of a value: all who may see the result, the entrant's team, or organisers only."""

    PUBLIC = "public"
    TEAM = "team"
    ORGANISER = "organiser"


class Purpose(StrEnum):
    """The purpose of an evaluation. Boards read `live` ones. A `shadow` one tries another judge and changes nothing."""

    LIVE = "live"
    SHADOW = "shadow"


class BlobRef(WireModel):
    sha256: Sha256
    size_bytes: int = Field(ge=0, le=MAX_BLOB_BYTES)


class Grant(WireModel):
    """A stage of a track that a node may serve."""

    track: str
    stage: Stage


class Capabilities(WireModel):
    """The properties of a node's machine, as the node found them."""

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
    image: str = ""  # the image of commands that name none, as its id; empty without containers
    memory_limit_by: str = ""
    memory_limit_why: str = ""
    """The reason why the machine cannot bound memory by control groups; empty if it can."""
    profilers: list[Profiler] = []
    agent_version: str = ""


class GpuCapability(WireModel):
    uuid: str
    name: str
    compute_capability: str
    memory_bytes: int = 0
    driver: str = ""
    pci_bus_id: str = ""
    sm_clock_mhz: FiniteFloat | None = None  # the maximum; the same holds for the memory's
    memory_clock_mhz: FiniteFloat | None = None
    power_limit_w: FiniteFloat | None = None
    ecc: bool | None = None
    profiling_admin_only: bool | None = None
    """Whether the driver reserves the hardware counters for root. If so, `ncu` cannot profile contestants' code."""


class Hello(WireModel):
    protocol_version: int
    capabilities: Capabilities
    boot_id: UUID | None = None
    """Random id of a node's start. A new id returns the leases of the node's earlier start. Null while reports of the
    earlier start are unsent."""
    state_id: UUID | None = None
    """Random id of the node's state folder. A start with the same one takes over from the earlier start at once."""
    obstacle: str = Field(default="", max_length=400)
    """The node's own reason for taking no work now, shown in public; empty if it takes work."""


class HelloReply(WireModel):
    node: str
    grants: list[Grant]
    """The node's grants that its capabilities fit."""
    lease_seconds: float
    heartbeat_seconds: float
    disabled_reason: str = ""
    broker_url: str = ""
    """The broker's address with an account that may only read; empty if the site tells none."""


class TrackSpec(WireModel):
    slug: str
    device: Literal["cpu", "gpu"]
    hardware_name: str = ""
    """The track's GPU or CPU model. A node with several GPU models runs the job on this one."""
    toolkit: str = ""
    compute_capability: str = ""
    image: str = ""
    """Image digest for the Docker sandbox; empty for the node's own root."""
    image_policy: str = "default"


class ResourceLimits(WireModel):
    """Bounds on one command. `wall_seconds` comes from the problem when it names a timeout."""

    memory_bytes: int = Field(default=8 << 30, gt=0)
    processes: int = Field(default=256, gt=0)
    file_bytes: int = Field(default=1 << 30, gt=0)
    workspace_bytes: int = Field(default=2 << 30, gt=0)
    output_bytes: int = Field(default=1 << 20, gt=0)
    build_seconds: float | None = None
    """Overrides the problem's own timeout if set."""


BUILD_DIGEST = "X-Podium-Sha256"
"""Header with the digest of a shared build; see `runners/fleet/nodes/shared_builds.py`."""


class ArtefactRef(WireModel):
    """The product of a build, addressed by a digest of all its inputs."""

    key: Sha256
    blob: BlobRef
    node: str


class ProblemRef(WireModel):
    """A problem as a node reads it: its record and further files by name."""

    kind: Kind
    profile: str
    """Pack profile for reading the record: `compute-eval` or `podium/1`."""
    record: BlobRef
    """One JSON line as in its pack."""
    blobs: dict[str, BlobRef] = Field(default={}, max_length=64)
    """Files that are not in the record."""


class CaseField(WireModel):
    """One value of a case, and its audience."""

    name: str = Field(max_length=60, pattern=r"^[a-z][a-z0-9_]*$")
    value: Annotated[str, Field(max_length=1000)] | bool | Count | FiniteFloat | None
    audience: Audience


class CaseReport(WireModel):
    """The result of one case of a problem. Its name and verdict are visible to all who may see the result."""

    name: str = Field(max_length=200)
    verdict: Verdict
    fields: list[CaseField] = Field(default=[], max_length=32)


class Heartbeat(WireModel):
    stage: StageName
    log_tail: str = Field(default="", max_length=16 * 1024)
    cases: list[CaseReport] = Field(default=[], max_length=MAX_CASES)
    """All cases finished so far."""


class HeartbeatReply(WireModel):
    cancel: bool
    lease_seconds: float


class LogText(WireModel):
    """A log: inline if short, else a blob. `truncated` is set if the command printed more than is kept."""

    text: str = Field(default="", max_length=INLINE_LOG_BYTES)
    blob: BlobRef | None = None
    truncated: bool = False


class StepReport(WireModel):
    """One command that was run: its end, its cost and its output."""

    name: StepName
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
    """The timing of one benchmark case. `runs_ms` holds one median per process, in the order of the processes."""

    role: Role
    case: str = Field(default="", max_length=200)
    baseline: str = Field(default="reference", pattern=r"^[a-z][a-z0-9_]{0,39}$")
    """The problem's baseline that was timed, such as reference, compiled or expert; without meaning for a candidate."""
    is_primary: bool = True
    """Whether speedups are computed over this baseline. Exactly one of a problem's baselines is primary."""
    median_ms: TimeMs
    ci_low_ms: TimeMs | None = None
    ci_high_ms: TimeMs | None = None
    runs_ms: list[TimeMs] = Field(max_length=1000)
    calls_ms: list[list[TimeMs]] = Field(default=[], max_length=1000)
    """The times of all calls by process, if a process makes several. More than MAX_INLINE_CALLS travel as `calls`."""
    calls: BlobRef | None = None
    """The same times as JSON in an uploaded blob."""
    clock: Clock
    work_checked: bool = False
    witness: Witness = Witness.UNAVAILABLE
    shared: bool = False
    """Whether this baseline was measured once for several results. `key` names it."""
    key: str = Field(default="", max_length=200)
    measured_at: str = ""
    device: dict[str, FiniteFloat | str] = Field(default={}, max_length=32)
    """Observations during the timing: of the GPU, such as `sm_clock_mhz: 1980.0`, or of the host (`host_load_1m`)."""


class FlagReport(WireModel):
    code: str = Field(max_length=60, pattern=r"^[a-z][a-z0-9_]*$")
    scope: FlagScope
    detail: str = Field(default="", max_length=2000)


class Peaks(WireModel):
    """A device's peaks as its node measured them."""

    gbps: FiniteFloat | None = Field(default=None, gt=0)
    """Copy bandwidth: bytes read plus bytes written, 1e9 bytes a second."""
    gflops: dict[str, Annotated[FiniteFloat, Field(gt=0)]] = Field(default={}, max_length=16)
    """Rate of matrix products by data type, 1e9 operations a second."""
    l2_bytes: int = Field(default=0, ge=0)


class Provenance(WireModel):
    """The machine and software that made a result, stored with the result."""

    node: str = ""
    agent_version: str = ""
    judge_version: str = ""
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
    """Target architecture given to builds if the problem names none, such as `sm_90`."""
    build_policy: str = ""
    """`compute-eval` if build commands ran unchanged, else the track's image policy."""
    profiler: str = ""
    """Name and version, such as `cupti 13.0`."""
    join_token: str = ""  # the name of the token by which the node joined, which the site fills in
    peaks: Peaks = Peaks()
    started_at: str = ""
    finished_at: str = ""


class Report(WireModel):
    """The outcome of an attempt. A `fault` is the platform's and sends the job back to the queue."""

    verdict: Verdict
    reason: str = Field(default="", max_length=4000)
    steps: list[StepReport] = Field(default=[], max_length=16)
    measurements: list[MeasurementReport] = Field(default=[], max_length=256)
    cases: list[CaseReport] = Field(default=[], max_length=MAX_CASES)
    flags: list[FlagReport] = Field(default=[], max_length=64)
    witness: Witness = Witness.UNAVAILABLE
    speedup: FiniteFloat | None = Field(default=None, gt=0)
    provenance: Provenance
    artefact: ArtefactRef | None = None
    """Set by a `build` job; names an uploaded blob."""
    profile: BlobRef | None = None
    """A profiler's own report, such as ncu's; names an uploaded blob."""
    listing: BlobRef | None = None
    """SASS and PTX of a CUDA solution's program as gzipped text; names an uploaded blob."""
    withheld: list[str] | None = None
    """Set if the rules name no withheld paths: those that runs did not see, because the reference does without them."""
    fault: str = Field(default="", max_length=4000)


class ReportReply(WireModel):
    result: int | None
    duplicate: bool = False


class WireError(WireModel):
    """The body of every refusal: a stable code and a message."""

    code: str
    message: str
    missing: list[str] = []
