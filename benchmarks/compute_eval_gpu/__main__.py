"""Measures `podium evaluate` on problems of ComputeEval, each solved by its own baseline.

Parts: first (nothing is built yet), second (the same again, builds are cached), ranked (20 longer problems under
--timing ranked), rival (ComputeEval's own evaluator). A run that has ended is not run again. The report is about all
that the folder holds.

Exit status: 0 done or out of time (whether goals are met or not), 1 a run failed, 2 bad input or a machine that lacks
something, 3 interrupted.
"""

import argparse
import json
import signal
import sys
import time
from dataclasses import asdict
from pathlib import Path

from benchmarks.compute_eval_gpu import machine, packs
from benchmarks.compute_eval_gpu.measure import BenchmarkRuns, MeasuringPlan
from benchmarks.compute_eval_gpu.record import PARTS, FolderSettings, Record
from benchmarks.compute_eval_gpu.refused import BenchmarkRefused, RunFailed
from benchmarks.compute_eval_gpu.report import report_of
from benchmarks.compute_eval_gpu.rival import Rival
from benchmarks.compute_eval_gpu.tree import THIS, Tree, commit_of

DONE, FAILED, BAD_INPUT, INTERRUPTED = 0, 1, 2, 3
WITHOUT_TIMES = ("first", "second")
"""The parts that --profile none can run."""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.compute_eval_gpu", description=__doc__)
    add = parser.add_argument
    add("--compute-eval", required=True, metavar="CHECKOUT", help="checkout of ComputeEval; only read")
    add("--out", required=True, metavar="FOLDER", help="new, or of earlier runs")
    add("--parts", default=",".join(PARTS), help="any of %(default)s")
    add("--seeds", default="2026", metavar="N,N", help="each draws its own problems (%(default)s)")
    add("--repeats", type=int, default=1, metavar="N", help="first and second runs of each seed (%(default)s)")
    add("--ranked-seed", type=int, default=2026, metavar="N", help="draws the problems of part ranked (%(default)s)")
    add("--limit-seconds", type=float, metavar="S", help="end after so long; the same command goes on")
    add("--podium", metavar="FOLDER", help="another version's source tree, whose first runs are measured too")
    add("--problems", type=int, default=60, metavar="N", help="how many a seed draws (%(default)s)")
    add("--release", default="2026-1", help="which release they are of (%(default)s)")
    add("--rival-workers", type=int, default=14, metavar="N", help="ComputeEval's n_workers (%(default)s)")
    add("--rival-python", default=sys.executable, metavar="PATH", help="a Python that can import ComputeEval")
    add("--profile", choices=("cupti", "none"), default="cupti", help="none: nothing is timed, no GPU needed")
    return parser


def _measure(given: argparse.Namespace) -> BenchmarkRuns:
    """Raises BenchmarkRefused."""
    began = time.monotonic()
    if given.rival_workers < 1 or given.repeats < 1 or not (given.limit_seconds is None or given.limit_seconds > 0):
        raise BenchmarkRefused("--rival-workers, --repeats and --limit-seconds must be positive.")
    plan = MeasuringPlan(_parts(given.parts, given.profile), _seeds(given.seeds), given.repeats, given.ranked_seed)
    checkout, folder = (_folder(name, getattr(given, name)) for name in ("compute_eval", "out"))
    pack = packs.release_pack(checkout, given.release)
    for seed in plan.seeds:
        packs.drawn(pack, given.problems, seed)
    tree, older = Tree.at(THIS), Tree.at(Path(given.podium).resolve()) if given.podium else None
    if older and older.commit == tree.commit:
        raise BenchmarkRefused(f"--podium is the same version as this one, {tree.commit}.")
    if given.profile != "none":
        machine.check_machine()
    return BenchmarkRuns(
        plan=plan,
        record=Record.open(folder, FolderSettings(given.release, given.problems, given.profile)),
        pack=pack,
        machine=machine.this_machine(),
        tree=tree,
        older=older,
        rival=Rival(checkout, given.rival_python, folder / "rival", given.rival_workers),
        rival_commit=commit_of(checkout),
        deadline=None if given.limit_seconds is None else began + given.limit_seconds,
    )


def _folder(option: str, text: str) -> Path:
    if not text:
        raise BenchmarkRefused(f"--{option.replace('_', '-')} names no folder.")
    return Path(text).resolve()


def _parts(text: str, profile: str) -> tuple[str, ...]:
    named = {name.strip() for name in text.split(",")}
    if unknown := sorted(named - set(PARTS)):
        raise BenchmarkRefused(f"--parts names {unknown[0]!r}; there are {', '.join(PARTS)}.")
    if profile == "none" and named - set(WITHOUT_TIMES):
        raise BenchmarkRefused(f"With --profile none there are only the parts {' and '.join(WITHOUT_TIMES)}.")
    return tuple(name for name in PARTS if name in named)


def _seeds(text: str) -> tuple[int, ...]:
    try:
        return tuple(dict.fromkeys(int(word) for word in text.split(",")))
    except ValueError:
        raise BenchmarkRefused(f"--seeds is {text!r}; it must be numbers separated by commas.") from None


def _report(measure: BenchmarkRuns) -> None:
    """Print what the folder holds, and write it to report.json and runs.csv."""
    state, folder = measure.record.state, measure.record.folder
    found = report_of(measure.record, measure.tree.commit)
    draws = [vars(draw) for draw in state.draws.values()]
    head = {"commit": measure.tree.commit, "settings": vars(state.settings), "left_out": packs.LEFT_OUT, "draws": draws}
    text = json.dumps(head | asdict(found), indent=2)
    (folder / "report.json").write_text(text + "\n", encoding="utf-8")
    found.write_csv(folder / "runs.csv")
    print(f"\n{measure.machine.hardware}; {measure.tree.commit}")
    print(f"{state.settings.problems} problems a seed of release {state.settings.release} {packs.LEFT_OUT}")
    for draw in state.draws.values():
        print(f"ranked: {len(draw.tasks)} of {draw.candidates} problems, seed {draw.seed}, of seeds {draw.from_seeds}")
    print(*found.lines, sep="\n")


def main(arguments: list[str]) -> int:
    """The exit status."""
    given = _parser().parse_args(arguments)
    try:
        measure = _measure(given)
    except BenchmarkRefused as error:
        print(error, file=sys.stderr)
        return BAD_INPUT
    try:
        if given.profile != "none":
            print(f"compilers read in {machine.read_compilers():.1f} s", flush=True)
        measure.run()
    except (RunFailed, BenchmarkRefused) as error:
        print(error, file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        print("Interrupted; the runs that ended are kept.", file=sys.stderr)
        return INTERRUPTED
    finally:
        _report(measure)
    return DONE


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    sys.exit(main(sys.argv[1:]))
