"""The profiler `ncu`: Nsight Compute runs the benchmark twice and measures each kernel launch separately.

The first run measures the duration of every launch in one pass. The second run measures the throughputs of the first
100 launches and replays each of them many times. ncu flushes the caches before each launch and does not lock the
clocks. The times agree with ComputeEval's ncu mode. They differ from cupti's times, which are taken without flushing.
"""

import math
import os
import re
import shlex
import stat
from collections.abc import Sequence
from pathlib import Path

from problems.formats.compute_eval.timing import chosen, extract_time_ms
from problems.spec.command.problem import CommandProblem
from problems.spec.command.timing_mode import RegionTimingMode, TimingMode, times_by_wall_clock
from runners.agent.profilers.base import Attachment, Reading
from runners.agent.profilers.cupti import FAILED, unmatched
from runners.agent.profilers.ncu_csv import (
    DRAM,
    MEMORY,
    MEND_NAMES,
    SM,
    TIME,
    DamagedTable,
    Launch,
    metrics_of,
    read_launches,
)
from runners.agent.profilers.ncu_failure import ERROR, Ends, own_failure
from runners.agent.profilers.ncu_tool import NcuTool, require_ncu
from runners.agent.sandbox.policy import Mount, Outcome
from runners.wire.protocol import Clock

SAMPLED_LAUNCHES = 100
MOST_TABLE_BYTES = 64 << 20
MOST_REPORT_BYTES = 64 << 20
LONGEST_COMPLAINT = 1000
OWN_SHARE = 0.9
"""Share of the time limit that both runs may use. A slow second run ends before the limit, and the first run counts."""
STATUS, ENDED, ALONE, TIMES, THROUGHPUTS = "status", "ended", "alone", "times", "throughputs"
"""File names in the notes: three exit statuses (see `Ends`), then the stem of a `.log` and an `.ncu-rep` per run."""
MOST_STATUS_BYTES = 16
EVERY_RUN = (
    ("--config-file", "off"),  # ncu would read one in the contestant's folder
    ("--rename-kernels", "off"),  # ncu would read a list of kernel names there, too
    ("--target-processes", "all"),
    ("--nvtx",),
    ("--nvtx-push-pop-scope", "process"),  # with `thread`, a range lacks the launches of helper threads
    ("--clock-control", "none"),
    ("--disable-extra-suffixes",),
    ("--csv",),
    ("--page", "details"),
    ("--print-units", "base"),
    ("--print-metric-name", "name"),
    ("--force-overwrite",),
)
CONNECTION = "NV_COMPUTE_PROFILER_LOCAL_CONNECTION_OVERRIDE"
ENVIRONMENT = {
    CONNECTION: "uds",  # sandboxes allow only Unix sockets, and ncu hangs with "tcp"
    "NV_COMPUTE_PROFILER_DISABLE_STOCK_FILE_DEPLOYMENT": "1",
}
FIRST_RUN = """\
began=$(date +%s)
timeout -k 5 {seconds} {first} /bin/sh -c '"$0" -c "$1"; status=$?; echo $status > "$2"; exit $status' \
"${{BASH:-/bin/sh}}" {shell} {status}
ended=$?
echo $ended > {ended}
if [ ! -s {status} ]; then
    echo "ncu ended with status $ended (124: it took more than {seconds} seconds) before the benchmark did:" >&2
    tail -n 5 {log} >&2
    exit $((ended ? ended : 1))
fi
read -r status < {status}
left=$(({seconds} - $(date +%s) + began))
if [ "$status" -gt 128 ] && [ "$left" -gt 0 ]; then
    timeout -k 5 "$left" "${{BASH:-/bin/sh}}" -c {shell} > /dev/null 2>&1
    echo $? > {alone}
fi
[ "$status" = 0 ] || exit "$status"
"""
SECOND_RUN = """\
[ "$ended" = 0 ] && [ "$left" -gt 0 ] &&
    timeout -k 5 "$left" {throughputs} "${{BASH:-/bin/sh}}" -c {shell} > /dev/null 2>&1
exit 0
"""
DENIED = "ERR_NVGPUCTRPERM"
NO_PERMISSION = """\
ncu has no permission to read the GPU's performance counters (ERR_NVGPUCTRPERM). On the node, load the NVIDIA driver \
with NVreg_RestrictProfilingToAdminUsers=0 (`options nvidia NVreg_RestrictProfilingToAdminUsers=0` in a file of \
/etc/modprobe.d, then reboot), or use the profiler cupti"""
_PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_ .-]*")
"""A glob without wildcards, and without characters that are special in ncu's own filters."""


class Ncu:
    """Runs one problem's benchmark under Nsight Compute. Raises ProfilerUnavailable if ncu is not installed."""

    # The time never ranks: it has no outside bounds, and ncu flushes the caches before every launch.
    clock = Clock.SELF
    waits_at_gate = False
    patience = 10.0
    for_graphs = None

    def __init__(self, problem: CommandProblem) -> None:
        self._tool = require_ncu()
        self._mode = problem.timing_mode
        limit_seconds = problem.effective_benchmark_timeout_seconds * self.patience
        self._seconds = math.ceil(limit_seconds * OWN_SHARE)
        self.name = f"ncu {self._tool.version}"

    def attach(self, shell: str, notes: Path) -> Attachment:
        """Run the whole command in a shell and let ncu follow all its processes. See `Timer.attach`."""
        times = ncu_command(self._tool, self._mode, notes / TIMES, "--metrics", TIME, caches="all")
        throughputs = ncu_command(
            self._tool,
            self._mode,
            notes / THROUGHPUTS,
            *("--metrics", ",".join((TIME, SM, DRAM, MEMORY))),
            *("--launch-count", str(SAMPLED_LAUNCHES)),
            caches="all",
        )
        second = SECOND_RUN.format(throughputs=throughputs, shell=shlex.quote(shell))
        return attachment(self._tool, first_run(times, shell, notes, self._seconds) + second, notes)

    def own_failure(self, notes: Path, outcome: Outcome) -> str:
        """See `Timer.own_failure`."""
        return failure_of(self._tool, notes, outcome)

    def read(self, problem: CommandProblem, notes: Path, outcome: Outcome) -> Reading:
        """See `Timer.read`. A filter that matches nothing is an error; ComputeEval reports 0.0 ms."""
        mode = problem.timing_mode
        complaint = self.own_failure(notes, outcome)
        if complaint:
            return Reading(None, complaint, by_timer=True)
        try:
            log = log_of(notes, TIMES)
            timed = read_launches(log)
        except DamagedTable as error:
            return Reading(None, FAILED.format(f"{error}; the profile was rejected"))
        metrics, report = metrics_of(timed, _sampled(notes), outcome.wall_ms), _report(notes)
        complaint = refusal_in(log) or _timeless(mode, timed) or unmatched(mode, metrics)
        if complaint:
            return Reading(None, FAILED.format(complaint), metrics, None, report)
        return Reading(extract_time_ms(mode, metrics), None, metrics, None, report)


def ncu_command(tool: NcuTool, mode: TimingMode, output: Path, *options: str, caches: str) -> str:
    """The command line of one run, up to the program. ncu writes `output` with `.log` and `.ncu-rep` added.

    `caches` says which caches ncu flushes before each launch: `all` or `none`.
    """
    wishes = (*EVERY_RUN, ("--cache-control", caches))
    files = ["--log-file", f"{output}.log", "--export", str(output)]
    return shlex.join([str(tool.program), *tool.accepted(wishes), *_filters(mode), *options, *files])


def first_run(command: str, shell: str, notes: Path, seconds: int) -> str:
    """A script that runs `shell` under `command`, whose log is that of TIMES, and leaves the statuses of `Ends`."""
    return FIRST_RUN.format(
        seconds=seconds,
        first=command,
        shell=shlex.quote(shell),
        status=shlex.quote(str(notes / STATUS)),
        ended=shlex.quote(str(notes / ENDED)),
        alone=shlex.quote(str(notes / ALONE)),
        log=shlex.quote(f"{notes / TIMES}.log"),
    )


def attachment(tool: NcuTool, script: str, notes: Path) -> Attachment:
    """The script with ncu's environment and mounts."""
    mounts = Mount(tool.folder, str(tool.folder)), Mount(notes, str(notes), writable=True)
    return Attachment(script, ENVIRONMENT, mounts)


def failure_of(tool: NcuTool, notes: Path, outcome: Outcome) -> str:
    """How ncu itself failed in the first run; "" if it did not. See `Timer.own_failure`."""
    if outcome.timed_out or outcome.memory_exceeded:
        return ""
    ends = Ends(_status(notes, STATUS), _status(notes, ENDED), _status(notes, ALONE))
    try:
        log = log_of(notes, TIMES)
    except DamagedTable:
        log = ""
    if ends.benchmark is None and DENIED in log:
        return FAILED.format(NO_PERMISSION)
    complaint = own_failure(tool.version, ends, log, outcome.stderr)
    return FAILED.format(complaint) if complaint else ""


def _filters(mode: TimingMode) -> list[str]:
    """Options that make ncu skip launches outside the mode's ranges; empty unless all their names are plain.

    ncu looks up names only in NVTX's default domain: push/pop ranges by `name/`, start/end ranges by `name`.
    """
    if not isinstance(mode, RegionTimingMode) or not mode.include or not all(map(_PLAIN.fullmatch, mode.include)):
        return []
    forms = [form for name in mode.include for form in (f"{name}/", name)]
    return [word for form in forms for word in ("--nvtx-include", form)]


def refusal_in(log: str) -> str:
    """The errors in ncu's log, which are separate lines; "" if there are none."""
    if DENIED in log:
        return NO_PERMISSION
    errors = [line.removeprefix(f"{ERROR} ") for line in log.splitlines() if line.startswith(ERROR)]
    return f"ncu reported: {' '.join(errors)[:LONGEST_COMPLAINT]}" if errors else ""


def _timeless(mode: TimingMode, timed: Sequence[Launch]) -> str:
    """The reason why the profiled launches give no time, or "" if they may give one."""
    if times_by_wall_clock(mode):
        return "ncu does not measure the wall clock of NVTX ranges: use the profiler cupti"
    unknown = sum(TIME not in launch.metrics for launch in timed)
    if unknown:
        return f"ncu reported no time for {unknown} of {len(timed)} kernel launches"
    if timed and isinstance(mode, RegionTimingMode):
        return lost_launches(mode, timed)
    if timed:
        return ""
    if _filters(mode):
        return f"no kernel was launched inside an NVTX range {_told(mode)} of NVTX's default domain"
    return "the run launched no kernel"


def lost_launches(mode: TimingMode, timed: Sequence[Launch]) -> str:
    """The reason why it is unknown which launches count, or "" if it is known."""
    if not isinstance(mode, RegionTimingMode):
        return ""
    nowhere = sum(one.lost_name and not any(chosen(mode, name) for name in one.ranges) for one in timed)
    if not nowhere:
        return ""
    where = "NVTX ranges whose names are empty or lost, because ncu loses names of wide characters"
    return f"{nowhere} of {len(timed)} kernel launches lie in {where}: {MEND_NAMES}"


def _told(mode: TimingMode) -> str:
    return " or ".join(map(repr, mode.include or [])) if isinstance(mode, RegionTimingMode) else ""


def log_of(notes: Path, run: str) -> str:
    """ncu's whole output of a run. Raises DamagedTable if it is missing or too long."""
    data = _left(notes, f"{run}.log", MOST_TABLE_BYTES)
    if data is None:
        raise DamagedTable(f"ncu left no table, or a table of more than {MOST_TABLE_BYTES >> 20} MiB")
    return data.decode(errors="replace")


def _status(notes: Path, name: str) -> int | None:
    """The exit status in a file; None if the file is missing or does not hold a number."""
    data = _left(notes, name, MOST_STATUS_BYTES)
    text = (data or b"").strip()
    return int(text) if text.isdigit() else None


def _sampled(notes: Path) -> list[Launch]:
    """The second run's launches with throughputs; none if that run failed. The times do not depend on it."""
    try:
        return read_launches(log_of(notes, THROUGHPUTS))
    except DamagedTable:
        return []


def _report(notes: Path) -> bytes | None:
    """The report of the second run, which has more metrics, else that of the first run; None without either."""
    for run in (THROUGHPUTS, TIMES):
        report = _left(notes, f"{run}.ncu-rep", MOST_REPORT_BYTES)
        if report:
            return report
    return None


def _left(notes: Path, name: str, most_bytes: int) -> bytes | None:
    """The content of a regular file in the notes; None if it is missing, of another kind, or exceeds `most_bytes`.

    The contestant can write to the folder and may have put a link, a pipe or an endless file there.
    """
    try:
        file = os.open(notes / name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    with os.fdopen(file, "rb") as stream:
        facts = os.fstat(file)
        if not stat.S_ISREG(facts.st_mode) or facts.st_nlink != 1 or facts.st_size > most_bytes:
            return None
        data = stream.read(most_bytes + 1)
    return data if len(data) <= most_bytes else None
