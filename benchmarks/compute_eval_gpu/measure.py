"""Runs the evaluators: each run that has not ended yet, in order, until the time is over."""

import random
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.compute_eval_gpu.compare import RANKED, read_rows
from benchmarks.compute_eval_gpu.machine import MeasuringMachine
from benchmarks.compute_eval_gpu.packs import Packs, drawn, named, write
from benchmarks.compute_eval_gpu.process import EndedProcess
from benchmarks.compute_eval_gpu.record import Draw, Piece, Record, RunKey, RunRecord
from benchmarks.compute_eval_gpu.refused import RunFailed
from benchmarks.compute_eval_gpu.rival import Rival
from benchmarks.compute_eval_gpu.tree import Tree
from problems.formats.compute_eval.packs import ProblemPack

RANKED_PROBLEMS = 20


@dataclass(frozen=True)
class MeasuringPlan:
    """The values of the command line."""

    parts: tuple[str, ...]
    seeds: tuple[int, ...]
    repeats: int
    ranked_seed: int


@dataclass
class BenchmarkRuns:
    """`deadline` is a moment of `time.monotonic`."""

    plan: MeasuringPlan
    record: Record
    pack: ProblemPack
    machine: MeasuringMachine
    tree: Tree
    older: Tree | None
    rival: Rival
    rival_commit: str
    deadline: float | None
    _prepared: set[str] = field(default_factory=set)

    def run(self) -> None:
        """Raises RunFailed and BenchmarkRefused; the runs before are kept."""
        for key in self._planned():
            if self.record.has_ended(key):
                continue
            if words := self._obstacle(key):
                print(f"— {key.name}: not run, {words}", flush=True)
                continue
            print(f"— {key.name}", flush=True)
            ended = self._rival(key) if key.part == "rival" else self._podium(key)
            print(f"{ended.seconds:.1f} s{'' if ended.status is not None else ', cut off'}", flush=True)

    def _planned(self) -> Iterator[RunKey]:
        """A second run follows its first run, and an older version's first run follows both, in the same minutes."""
        plan, commit = self.plan, self.tree.commit
        for repeat in range(1, plan.repeats + 1):
            for seed in plan.seeds:
                yield from (RunKey(part, seed, repeat, commit) for part in ("first", "second") if part in plan.parts)
                if self.older and "first" in plan.parts:
                    yield RunKey("first", seed, repeat, self.older.commit)
        if "ranked" in plan.parts:
            yield RunKey("ranked", plan.ranked_seed, 1, commit)
        if "rival" in plan.parts:
            yield from (RunKey("rival", seed, 1, self.rival_commit) for seed in plan.seeds)

    def _obstacle(self, key: RunKey) -> str:
        """Returns the reason why the run cannot begin, or ""."""
        if self.deadline is not None and (needed_s := self._expected_s(key)) >= self.deadline - time.monotonic():
            return f"the time is over: it takes about {needed_s:.0f} s" if needed_s else "the time is over"
        if key.part == "second" and not self.record.has_ended(_first_of(key)):
            return "its first run has not ended"
        if key.part == "second" and not self._var(key).is_dir():
            return "the builds of its first run are gone"
        if key.part == "ranked" and not self._draw_of(key.seed):
            return f"not all first runs of seeds {_words(self.plan.seeds)} have ended"
        return ""

    def _expected_s(self, key: RunKey) -> float:
        """How long such a run took before. One of Podium's that was cut off goes on; the rival's begins anew."""
        return max(
            (
                run.seconds
                for run in self.record.state.runs
                if (run.key.part, run.key.seed) == (key.part, key.seed) and (run.is_whole or key.part == "rival")
            ),
            default=0.0,
        )

    def _podium(self, key: RunKey) -> EndedProcess:
        is_this = key.commit == self.tree.commit
        tree = self.tree if is_this or not self.older else self.older
        self._prepare(tree)
        before = self.record.find(key)
        pieces = before.pieces if before else ()
        if not pieces:
            self._forget(key)
        options, files = self._options(key), self._files(key)
        if is_this:
            files += ["--events", str(self.record.events(key, len(pieces)))]
        log = self.record.folder / f"{key.name}-{len(pieces)}.log"
        began_at = _now()
        ended = tree.evaluate([*files, *options], self._var(key), self._left_s, log)
        self._note(key, pieces, ended, began_at, " ".join(["podium evaluate", *options]))
        if self.record.has_ended(key) and (key.part != "first" or not is_this):
            shutil.rmtree(self._var(key), ignore_errors=True)
        return ended

    def _rival(self, key: RunKey) -> EndedProcess:
        """Unlike Podium it cannot go on: a run that was cut off begins anew."""
        self.rival.make_ready()
        self.rival.build_profiler()
        began_at = _now()
        ended = self.rival.run(self._packs(key), self.record.rows(key), self._left_s)
        self._note(key, (), ended, began_at, self.rival.command)
        return ended

    def _files(self, key: RunKey) -> list[str]:
        packs, rows = self._packs(key), self.record.rows(key)
        return ["--problems", str(packs.problems), "--solutions", str(packs.solutions), "--out", str(rows)]

    def _options(self, key: RunKey) -> list[str]:
        timing = ["--timing", "ranked"] if key.part == "ranked" else []
        return ["--sandbox", "bubblewrap", "--profile", self.record.state.settings.profile, *timing]

    def _prepare(self, tree: Tree) -> None:
        if tree.commit not in self._prepared:
            tree.prepare(self.record.folder / "prepare.log")
            self._prepared.add(tree.commit)

    def _forget(self, key: RunKey) -> None:
        """Remove what a run that was interrupted has left."""
        self.record.rows(key).unlink(missing_ok=True)
        if key.part != "second":
            shutil.rmtree(self._var(key), ignore_errors=True)

    def _note(self, key: RunKey, before: tuple[Piece, ...], ended: EndedProcess, began_at: str, command: str) -> None:
        one = self.machine
        piece = Piece(began_at, command, ended.seconds, ended.cpu_seconds, one.hardware, one.cores, one.uid)
        self.record.put(RunRecord(key, (*before, piece), ended=ended.status is not None))

    def _var(self, key: RunKey) -> Path:
        """Where a run's builds lie: a second run finds those of its first run."""
        return self.record.folder / "var" / (_first_of(key) if key.part == "second" else key).name

    @property
    def _left_s(self) -> float | None:
        return None if self.deadline is None else max(0.0, self.deadline - time.monotonic())

    def _packs(self, key: RunKey) -> Packs:
        settings, folder = self.record.state.settings, self.record.folder
        draw = self._draw_of(key.seed) if key.part == "ranked" else None
        if draw:
            packs, records = Packs(settings.release, folder / f"packs-ranked-{key.seed}"), named(self.pack, draw.tasks)
        else:
            packs = Packs(settings.release, folder / f"packs-{key.seed}")
            records = drawn(self.pack, settings.problems, key.seed)
        write(packs, self.pack.metadata_bytes, records)
        return packs

    def _draw_of(self, seed: int) -> Draw | None:
        """The problems of part `ranked`, drawn once; None while first runs are missing. Raises RunFailed."""
        firsts = [RunKey("first", one, 1, self.tree.commit) for one in self.plan.seeds]
        if seed not in self.record.state.draws and all(map(self.record.has_ended, firsts)):
            rows = [row for key in firsts for row in read_rows(self.record.rows(key))]
            found = sorted({row["task_id"] for row in rows if (row["solution_time"] or 0.0) >= RANKED.least_ms})
            if not found:
                raise RunFailed(f"ranked: no first run has a time of at least {RANKED.least_ms:g} ms")
            tasks = random.Random(seed).sample(found, min(RANKED_PROBLEMS, len(found)))
            self.record.put_draw(Draw(seed, self.plan.seeds, len(found), tuple(tasks)))
        return self.record.state.draws.get(seed)


def _first_of(key: RunKey) -> RunKey:
    return replace(key, part="first")


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _words(seeds: tuple[int, ...]) -> str:
    return ", ".join(map(str, seeds))
