"""A stand-in for Nsight Compute: runs the command, and leaves tables that were recorded on an H200."""

import csv
import io
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from problems.spec.command.problem import CommandProblem
from runners.agent.profilers import ncu_tool
from runners.agent.profilers.base import Reading, Timer
from runners.agent.profilers.ncu import Ncu
from runners.agent.profilers.ncu_counters import L2_WRITES
from runners.agent.profilers.ncu_csv import TIME
from runners.agent.sandbox.policy import Command, Outcome, Sandbox
from tests.agent.machine import shell_problem, temporary_folder
from tests.sandbox.boxes import LIMITS

DATA = Path(__file__).parent / "data"
TIMES, THROUGHPUTS = (DATA / f"ncu-h200-{name}.csv" for name in ("times", "throughputs"))
REGION = {"type": "region", "include": ["bench_region"]}
KERNELS = {"type": "kernels"}
HELP = (
    "  --config-file arg\n  --rename-kernels arg (=1)\n  --rename-kernels-path arg\n"
    "  --target-processes arg (=all)\n  --nvtx\n  --nvtx-push-pop-scope arg\n"
    "  --clock-control arg (=base)\n  --cache-control arg\n  --csv\n"
    "  --page arg\n  --print-units arg\n  -f [ --force-overwrite ]\n"
)
STAND_IN = """\
#!/bin/sh
here=$(dirname "$0")
case $1 in
    --version) echo "Version 2025.3.1.0 (build 36398880)"; exit;;
    --help) cat "$here/help"; exit;;
esac
run=times
while :; do
    case $1 in
        --log-file) log=$2; shift 2;;
        --export) rep=$2.ncu-rep; shift 2;;
        --launch-count) run=throughputs; shift 2;;
        --config-file|--rename-kernels) shift 2;;
        --target-processes|--clock-control|--cache-control|--page|--print-units) shift 2;;
        --metrics|--nvtx-include|--nvtx-push-pop-scope) shift 2;;
        --nvtx|--csv|--force-overwrite) shift;;
        --*) echo "unrecognised option '$1'" > "${log:-/dev/stdout}"; exit 1;;
        *) break;;
    esac
done
[ -e "$here/$run.refused" ] && { cp "$here/$run.refused" "$log"; exit 9; }
[ -e "$here/$run.before" ] && . "$here/$run.before"
"$@"
status=$?
cp "$here/$run.csv" "$log"
[ -e "$here/$run.after" ] && . "$here/$run.after"
echo "report of $run" > "$rep"
exit $status
"""


def problem(mode: dict[str, Any] = REGION, **changes: Any) -> CommandProblem:
    return shell_problem(benchmark_command="./bench", timing_mode=mode, **changes)


@contextmanager
def installed_ncu(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of the stand-in, which is the `ncu` of the PATH. Its files `<run>.refused`, `<run>.before` and
    `<run>.after` say how a run goes wrong."""
    with temporary_folder() as name:
        folder = Path(name) / "nsight-compute"
        (folder / "target").mkdir(parents=True)
        (folder / "ncu").write_text(STAND_IN)
        (folder / "ncu").chmod(0o755)
        (folder / "help").write_text(HELP)
        (folder / "times.csv").write_bytes(TIMES.read_bytes())
        (folder / "throughputs.csv").write_bytes(THROUGHPUTS.read_bytes())
        monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
        monkeypatch.setattr(ncu_tool, "DRIVER_SIGNS", ("/",))
        yield folder


@contextmanager
def notes_folder() -> Iterator[Path]:
    with temporary_folder() as name:
        folder = Path(name) / "notes"
        folder.mkdir()
        folder.chmod(0o777)
        yield folder


def under_ncu(
    box: Sandbox, notes: Path, shell: str, mode: dict[str, Any] = REGION, **changes: Any
) -> tuple[Outcome, Reading]:
    """Run a benchmark in the sandbox as a node does, and read what it left."""
    return under_timer(Ncu(problem(mode, **changes)), box, notes, shell, mode)


def under_timer(
    timer: Timer, box: Sandbox, notes: Path, shell: str, mode: dict[str, Any] = REGION
) -> tuple[Outcome, Reading]:
    """As `under_ncu`, with any timer that runs ncu."""
    attachment = timer.attach(shell, notes)
    with temporary_folder() as name:
        workspace = Path(name) / "workspace"
        workspace.mkdir(mode=0o777)
        workspace.chmod(0o777)
        (workspace / "bench.py").write_text("import helper; print(helper.WORD)")
        (workspace / "lib").mkdir()
        (workspace / "lib" / "helper.py").write_text("WORD = 'helped'")
        command = Command(attachment.shell, workspace, LIMITS)
        environment = dict(attachment.environment)
        outcome = box.run(replace(command, environment=environment, mounts=attachment.mounts))
    return outcome, timer.read(problem(mode), notes, outcome)


WRITE, REDUCTION, ATOMIC = L2_WRITES
INSIDE = '12  "<default domain>:bench_region:none:none:none:none:none:none" '
PUSH_POP = "thread Domain:Push/Pop_Range:PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg"
STORES = {TIME: "52,960", WRITE: "1,024", REDUCTION: "0", ATOMIC: "0"}


def counts(*launches: Mapping[str, str], **columns: str) -> str:
    """A table in the form of the recorded ones, of launches in the range with these metrics."""
    lines = TIMES.read_text().splitlines()[4:6]
    names, first = csv.reader(lines)
    text = io.StringIO()
    writer = csv.DictWriter(text, names, quoting=csv.QUOTE_ALL)
    writer.writeheader()
    for number, metrics in enumerate(launches):
        fixed = {**dict(zip(names, first, strict=True)), PUSH_POP: INSIDE, "ID": str(number), **columns}
        for name, value in metrics.items():
            unit = "ns" if name == TIME else "sector"
            writer.writerow({**fixed, "Metric Name": name, "Metric Unit": unit, "Metric Value": value})
    return text.getvalue()
