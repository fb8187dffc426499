"""Makes the report of a folder from its record, rows and events: words for a reader, JSON for programs, CSV rows."""

import csv
import statistics
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.compute_eval_gpu.compare import (
    QUICK,
    RANKED,
    Agreement,
    counts,
    differing_verdicts,
    pooled,
    read_rows,
    speedups,
    times,
)
from benchmarks.compute_eval_gpu.events import activity, read
from benchmarks.compute_eval_gpu.record import PARTS, Record, RunKey, RunRecord

OLDER_GOAL = 1.25
"""First runs may take this many times as long as an older version's, median over median."""
SHOWN = {
    "part": "part", "seed": "seed", "repeat": "repeat", "commit": "commit", "seconds": "seconds", "ended": "ended",
    "processes": "processes", "device_seconds": "device", "cpu_seconds_per_core": "cpu/cores",
    "bound_seconds": "bound", "graded": "graded", "passed": "passed", "flagged": "flagged",
    "speedups": "speedups", "within": "within",
}  # fmt: skip
"""The columns of the reader's table and their heads."""
LEGEND = (
    "device: seconds in which a benchmark had the device alone. cpu/cores: processor seconds over cores. bound: the "
    "larger of both; a run cannot take less. speedups: those of times of "
    "at least 0.1 ms; within: those within 3 % of 1. In part ranked the limits are 1 ms and 1 %."
)


@dataclass(frozen=True)
class Goal:
    """`is_met` is None if nothing was measured."""

    words: str
    figure: float | None
    is_met: bool | None

    def __str__(self) -> str:
        verdict = "not measured" if self.is_met is None else "met" if self.is_met else "not met"
        return f"{verdict:<13}{self.words}"


@dataclass(frozen=True)
class RunsReport:
    """`runs` holds a row of figures for each run, `outside` and `rivals` sentences."""

    runs: Sequence[dict[str, Any]]
    goals: Sequence[Goal]
    rivals: Sequence[str]
    outside: Sequence[str]

    @property
    def lines(self) -> list[str]:
        table = _table([list(SHOWN.values()), *([str(run[name]) for name in SHOWN] for run in self.runs)])
        sentences = [LEGEND, *map(str, self.goals), *self.rivals, *self.outside]
        return table + [textwrap.fill(one, 118, subsequent_indent="  ", break_on_hyphens=False) for one in sentences]

    def write_csv(self, path: Path) -> None:
        """In the form of the files of docs/benchmarks/."""
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(self.runs[0]) if self.runs else list(SHOWN), lineterminator="\n")
            writer.writeheader()
            writer.writerows(self.runs)


def report_of(record: Record, commit: str) -> RunsReport:
    """The goals are about the runs of this commit."""
    runs = sorted(record.state.runs, key=lambda run: (PARTS.index(run.key.part), run.key.seed, run.key.repeat))
    machines = list(dict.fromkeys(piece.machine for run in runs for piece in run.pieces))
    accuracies = {run.key: found for run in runs if (found := _accuracy(record, run))}
    return RunsReport(
        runs=[_figures(record, run, machines, accuracies.get(run.key)) for run in runs],
        goals=[*_accuracy_goals(accuracies, commit), *_older_goals(runs, commit)],
        rivals=[_rival_words(record, run, commit) for run in runs if run.key.part == "rival"],
        outside=[f"{key.name}, outside: {_outside(one)}" for key, one in accuracies.items() if one.outside],
    )


def _accuracy(record: Record, run: RunRecord) -> Agreement | None:
    if record.state.settings.profile == "none" or run.key.part == "rival":
        return None
    return speedups(read_rows(record.rows(run.key)), RANKED if run.key.part == "ranked" else QUICK)


def _figures(record: Record, run: RunRecord, machines: Sequence[str], accuracy: Agreement | None) -> dict[str, Any]:
    """A CSV row. A run that wrote no events has no device seconds and no bound, one that timed nothing no speedups."""
    first, files = run.pieces[0], [record.events(run.key, piece) for piece in range(len(run.pieces))]
    activities = [activity(read(path)) for path in files if path.is_file()]
    device_s = sum(one.exclusive_s for one in activities)
    per_core_s = sum(piece.cpu_seconds / piece.cores for piece in run.pieces)
    has_events = len(activities) == len(files)
    return {
        "date": first.began_at[:10],
        "hardware": first.hardware,
        "command": first.command,
        "machine": " and ".join(
            str(1 + number) for number in sorted({machines.index(one.machine) for one in run.pieces})
        ),
        **asdict(run.key),
        "seconds": round(run.seconds, 1),
        "processes": len(run.pieces),
        "ended": "yes" if run.ended else "no",
        "cpu_seconds": round(sum(piece.cpu_seconds for piece in run.pieces)),
        "cpu_seconds_per_core": round(per_core_s, 1),
        "device_seconds": round(device_s, 1) if has_events else "",
        "shared_device_seconds": round(sum(one.shared_s for one in activities), 1) if has_events else "",
        "bound_seconds": round(max(per_core_s, device_s), 1) if has_events else "",
        "builds_seconds": round(sum(one.builds_s for one in activities)) if has_events else "",
        **asdict(counts(read_rows(record.rows(run.key)))),
        "speedups": accuracy.n if accuracy else "",
        "within": accuracy.n_within if accuracy else "",
        "tolerance": accuracy.demand.tolerance if accuracy else "",
    }


def _accuracy_goals(accuracies: Mapping[RunKey, Agreement], commit: str) -> Iterator[Goal]:
    own = {key: one for key, one in accuracies.items() if key.commit == commit}
    for name, parts, demand in (("quick", ("first", "second"), QUICK), ("ranked", ("ranked",), RANKED)):
        chosen = [one for key, one in own.items() if key.part in parts]
        found = pooled(chosen, demand)
        words = f"{name}, runs: {len(chosen)}; {_share(found)} speedups within {demand.tolerance:.0%} of 1, "
        words += f"times of at least {demand.least_ms:g} ms (goal {demand.share:.0%})"
        yield Goal(words, found.share, found.share >= demand.share if found.share is not None else None)


def _older_goals(runs: Iterable[RunRecord], commit: str) -> Iterator[Goal]:
    """Over the seeds that both versions ran."""
    firsts = [run for run in runs if run.key.part == "first" and run.is_whole]
    own = [run for run in firsts if run.key.commit == commit]
    for older in dict.fromkeys(run.key.commit for run in firsts if run.key.commit != commit):
        other = [run for run in firsts if run.key.commit == older]
        seeds = {run.key.seed for run in own} & {run.key.seed for run in other}
        if seeds:
            own_s, other_s = (_median_s(run for run in both if run.key.seed in seeds) for both in (own, other))
            words = f"first runs, seeds {sorted(seeds)}: median {own_s:.1f} s, of {older} {other_s:.1f} s, "
            words += f"ratio {own_s / other_s:.2f} (goal at most {OLDER_GOAL})"
            yield Goal(words, own_s / other_s, own_s / other_s <= OLDER_GOAL)


def _rival_words(record: Record, rival: RunRecord, commit: str) -> str:
    """ComputeEval's run of a seed beside this version's first runs of it."""
    seed = rival.key.seed
    at_least = "" if rival.ended else "at least "
    words = f"ComputeEval, seed {seed}: {at_least}{rival.seconds:.1f} s"
    firsts = [run for run in record.state.runs if _is_first(run, seed, commit)]
    if whole := [run for run in firsts if run.is_whole]:
        words += f", {at_least}{rival.seconds / _median_s(whole):.2f} × the median first run"
    if rival.ended and firsts:
        ours, theirs = (read_rows(record.rows(run.key)) for run in (firsts[0], rival))
        agreement = times(ours, theirs)
        words += f"; verdicts that differ: {', '.join(differing_verdicts(ours, theirs)) or 'none'}"
        words += f"; {_share(agreement)} times of at least 1 ms within 3 % of ComputeEval's"
        words += f"; outside: {_outside(agreement)}" if agreement.outside else ""
    return words


def _is_first(run: RunRecord, seed: int, commit: str) -> bool:
    return (run.key.part, run.key.seed, run.key.commit) == ("first", seed, commit)


def _median_s(runs: Iterable[RunRecord]) -> float:
    return statistics.median(run.seconds for run in runs)


def _share(accuracy: Agreement) -> str:
    return f"{accuracy.n_within} of {accuracy.n}"


def _outside(accuracy: Agreement) -> str:
    return ", ".join(
        f"{one.task_id} {one.ratio:.3f} ({one.ms:.4g} / {one.other_ms:.4g} ms)" for one in accuracy.outside
    )


def _table(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
