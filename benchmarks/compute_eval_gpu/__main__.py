"""Measures `podium evaluate` against ComputeEval's own evaluator on a GPU.

It runs the parts that are asked for, and reports on all that the folder holds.

Exit status: 0 all parts ran (whether goals are met or not), 1 a part failed, 2 bad input or a machine that lacks
something, 3 interrupted.
"""

import argparse
import json
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.compute_eval_gpu import compare, level, packs, report, runs, timeline
from benchmarks.compute_eval_gpu.packs import Packs
from benchmarks.compute_eval_gpu.record import PARTS, Part, Record, Settings
from benchmarks.compute_eval_gpu.refused import PartFailed, Refused
from benchmarks.compute_eval_gpu.rival import Rival
from benchmarks.compute_eval_gpu.runs import Podium
from podium.evaluation.hardware import local_hardware

DONE, FAILED, BAD_INPUT, INTERRUPTED = 0, 1, 2, 3
NEARLY_LEAST_MS = 0.9 * compare.LEAST_MS
"""Times that ComputeEval may find to be long enough to be compared."""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.compute_eval_gpu", description=__doc__)
    parser.add_argument("--compute-eval", required=True, metavar="CHECKOUT", help="checkout of ComputeEval; only read")
    parser.add_argument("--out", required=True, metavar="FOLDER", help="new, or of an earlier run of other parts")
    parser.add_argument("--problems", type=int, default=60, metavar="N", help="how many are drawn (%(default)s)")
    parser.add_argument("--seed", type=int, default=2026, help="what draws them (%(default)s)")
    parser.add_argument("--release", default="2026-1", help="which release they are of (%(default)s)")
    parser.add_argument("--parts", default=",".join(PARTS), help="any of %(default)s, always in this order")
    parser.add_argument("--rival-limit-seconds", type=float, metavar="S", help="end ComputeEval after so long")
    parser.add_argument("--rival-workers", type=int, default=14, metavar="N", help="its n_workers (%(default)s)")
    parser.add_argument("--rival-python", default=sys.executable, metavar="PATH", help="a Python that can import it")
    parser.add_argument(
        "--profile", choices=("cupti", "none"), default="cupti", help="none: nothing is timed, no GPU needed"
    )
    parser.add_argument("--trace", action="store_true", help="also say what bounded Podium's runs")
    return parser


@dataclass(frozen=True)
class Measure:
    """One run of the command, its input checked."""

    record: Record
    parts: tuple[str, ...]
    packs: Packs
    podium: Podium
    rival: Rival
    checkout: Path

    def run(self) -> None:
        """Raises PartFailed, with the parts before it kept."""
        actions: dict[str, Callable[[], Part]] = {
            "cold": self._cold,
            "warm": self._warm,
            "rival": self._rival,
            "again": lambda: self._warm("again"),
            "serial": self._serial,
        }
        too_late = []
        if self.podium.profile != "none":
            print(level.level(), flush=True)
        for name in self.parts:
            if why := self.record.why_too_late(name, datetime.now(UTC)):
                too_late.append(why)
                continue
            print(f"— {name}", flush=True)
            for gone in self.record.begin(name):
                self.podium.clear(gone)
            part = actions[name]()
            self.record.end(name, part)
            print(f"{part.seconds:.1f} s", *part.notices, sep="\n", flush=True)
            if self.podium.timeline(name).is_file():
                print(*timeline.lines(timeline.read(self.podium.timeline(name))), sep="\n", flush=True)
        if too_late:
            raise PartFailed("\n".join(too_late))

    def _cold(self) -> Part:
        self.podium.prepare()
        self.podium.forget()
        return _ours(self.podium.evaluate("cold", self.packs))

    def _warm(self, name: str = "warm") -> Part:
        return _ours(self.podium.evaluate(name, self.packs))

    def _serial(self) -> Part:
        rows = compare.read_rows(self.podium.rows("cold"))
        long = {row["task_id"] for row in rows if (row["solution_time"] or 0.0) >= NEARLY_LEAST_MS}
        if not long:
            raise PartFailed(f"serial: no time of part cold is as long as {compare.LEAST_MS:g} ms")
        chosen = Packs(self.packs.release, self.record.folder / "serial-packs")
        packs.write_without_baselines(chosen, self.packs, long)
        went_on = self.podium.rows("serial").is_file()
        notices = ("serial: went on from a run that was cut off, whose seconds are lacking",) if went_on else ()
        return _ours(self.podium.evaluate("serial", chosen, *runs.SERIAL), notices)

    def _rival(self) -> Part:
        notice = self.rival.make_ready()
        self.rival.build_profiler()
        ran = self.rival.run(self.packs)
        notices = (notice,) if notice else ()
        return Part(ran.seconds, ran.ended, runs.commit_of(self.checkout), _now(), notices, ran.cpu_seconds)

    def report(self) -> None:
        """Print what the folder holds, and write it to report.json."""
        record, settings = self.record, self.record.settings
        files = {name: self.podium.rows(name) for name in PARTS} | {"rival": self.rival.folder / self.packs.graded_name}
        rows = {name: compare.read_rows(files[name]) for name in record.parts}
        found = report.report_of(record.parts, rows, timed=settings.profile != "none")
        head = {
            "date": _now(),
            "commit": runs.commit_of(runs.ROOT),
            "compute_eval_commit": runs.commit_of(self.checkout),
            "settings": vars(settings),
            "left_out": packs.LEFT_OUT,
        }
        traced = {name: self.podium.timeline(name) for name in record.parts if self.podium.timeline(name).is_file()}
        figures = {name: timeline.figures(timeline.read(path)) for name, path in traced.items()}
        text = json.dumps(head | report.as_json(found) | {"timelines": figures}, indent=2)
        (record.folder / "report.json").write_text(text + "\n", encoding="utf-8")
        print(f"\n{head['date']}; release {settings.release}, seed {settings.seed}")
        print(f"{settings.problems} problems of those {packs.LEFT_OUT}")
        print(*report.lines(found), sep="\n")
        if settings.profile == "none":
            print("Nothing was timed (--profile none), so no times are compared.")


def _ours(ran: runs.Ran, notices: tuple[str, ...] = ()) -> Part:
    return Part(ran.seconds, True, runs.commit_of(runs.ROOT), _now(), notices, ran.cpu_seconds)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _measure(given: argparse.Namespace) -> Measure:
    """Raises Refused."""
    parts = _parts(given.parts, given.profile)
    if given.rival_workers < 1 or not (given.rival_limit_seconds is None or given.rival_limit_seconds > 0):
        raise Refused("--rival-workers and --rival-limit-seconds must be positive.")
    checkout, folder = (_folder(name, getattr(given, name)) for name in ("compute_eval", "out"))
    pack = packs.release_pack(checkout, given.release)
    records = packs.drawn(pack, given.problems, given.seed)
    if given.profile != "none":
        _check_machine()
    record = Record.open(folder, Settings(given.release, given.problems, given.seed, given.profile))
    record.check(parts)
    own = Packs(given.release, folder / "packs")
    rival = Rival(checkout, given.rival_python, folder / "rival", given.rival_workers, given.rival_limit_seconds)
    if "rival" in parts:
        rival.make_ready()
    packs.write(own, pack.metadata_bytes, records)
    return Measure(record, parts, own, Podium(folder, given.profile, given.trace), rival, checkout)


def _folder(option: str, text: str) -> Path:
    if not text:
        raise Refused(f"--{option.replace('_', '-')} names no folder.")
    return Path(text).resolve()


def _parts(text: str, profile: str) -> tuple[str, ...]:
    named = {name.strip() for name in text.split(",")}
    if unknown := sorted(named - set(PARTS)):
        raise Refused(f"--parts names {unknown[0]!r}; there are {', '.join(PARTS)}.")
    if profile == "none" and named & {"rival", "serial"}:
        raise Refused("With --profile none there are the parts cold, warm and again alone.")
    return tuple(name for name in PARTS if name in named)


def _check_machine() -> None:
    found = local_hardware()
    if found.device != "gpu":
        raise Refused("This machine has no NVIDIA GPU that nvidia-smi can see, and the measure needs one.")
    if found.toolkit == (0, 0):
        raise Refused("There is no nvcc on PATH, and the measure needs it.")


def main(arguments: list[str]) -> int:
    """The exit status."""
    given = _parser().parse_args(arguments)
    try:
        measure = _measure(given)
    except Refused as error:
        print(error, file=sys.stderr)
        return BAD_INPUT
    try:
        measure.run()
    except (PartFailed, Refused) as error:
        print(error, file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        print("Interrupted; the parts that ended are kept.", file=sys.stderr)
        return INTERRUPTED
    finally:
        measure.report()
    return DONE


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    sys.exit(main(sys.argv[1:]))
