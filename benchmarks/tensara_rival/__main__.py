"""The command: asks both engines turn by turn, appends a row for each submission, and prints the table."""

import argparse
import json
import time
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

import benchmarks.tensara_rival as rival
from benchmarks.tensara_rival.engine import TensaraEngine
from benchmarks.tensara_rival.podium_side import podium_engine
from benchmarks.tensara_rival.solutions import Solution, solutions
from benchmarks.tensara_rival.table import table
from runners.wire.protocol import TimingPolicy

Row = dict[str, Any]
KEY = ("problem", "solution", "engine", "repeat")


class Engine(Protocol):
    """A program that judges one submission."""

    def row(self, solution: Solution, repeat: int) -> Row: ...


def main() -> None:
    options = _options()
    if options.engine:
        tensara = TensaraEngine(options.engine.resolve(), options.problems.resolve(), options.gpu)
        with podium_engine(options.problems.resolve(), options.sandbox, TimingPolicy(options.timing)) as podium:
            engines: dict[str, Engine] = {"tensara": tensara, "podium": podium}
            found = solutions(options.solutions, options.only)
            measure(engines, found, options.repeats, options.out, options.limit_seconds)
    print(table(read_rows(options.out)))


def measure(engines: dict[str, Engine], found: list[Solution], repeats: int, out: Path, limit_s: float) -> None:
    """Append the rows that `out` lacks; begin none after `limit_s` seconds."""
    began = time.monotonic()
    done = {tuple(row[key] for key in KEY) for row in read_rows(out)}
    with out.open("a") as file:
        for solution, engine, repeat in _turns(engines, found, repeats):
            if (solution.problem, solution.name, engine, repeat) in done:
                continue
            if time.monotonic() - began > limit_s:
                print("out of time: run the same command again for the rest", flush=True)
                return
            row = {
                "problem": solution.problem,
                "solution": solution.name,
                "kind": solution.kind,
                "engine": engine,
                "repeat": repeat,
                **_row(engines[engine], solution, repeat),
            }
            print(json.dumps(row), file=file, flush=True)
            print(*(row[key] for key in (*KEY, "verdict", "seconds")), flush=True)


def _turns(engines: dict[str, Engine], found: list[Solution], repeats: int) -> Iterator[tuple[Solution, str, int]]:
    """The engines take turns, and a repeat begins when all solutions had the one before."""
    for repeat in range(repeats):
        for solution in found:
            for engine in engines:
                yield solution, engine, repeat


def _row(engine: Engine, solution: Solution, repeat: int) -> Row:
    """The engine's row; whatever goes wrong in it is a row too, so that the others are still measured."""
    try:
        return engine.row(solution, repeat)
    except Exception:  # noqa: BLE001
        return {
            "verdict": "fault",
            "credited": False,
            "reason": traceback.format_exc()[-1500:],
            "seconds": None,
            "ms": {},
            "published_ms": None,
        }


def read_rows(path: Path) -> list[Row]:
    """The rows written so far; none if there is no file."""
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.tensara_rival",
        description=rival.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--engine", type=Path, help="checkout of Tensara's site; without it only the table is printed")
    parser.add_argument("--problems", type=Path, help="folder of SLUG/def.py and SLUG/problem.md")
    parser.add_argument("--solutions", type=Path, help="folder of SLUG/KIND-NAME.cu or .py")
    parser.add_argument("--only", default="", help="part of the names SLUG/KIND-NAME.cu to measure")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--gpu", default="H200", help="the machine's GPU by a name that the engine knows")
    parser.add_argument("--timing", choices=[str(one) for one in TimingPolicy], default="quick", help="Podium's timing")
    parser.add_argument("--sandbox", default="bubblewrap", help="Podium's sandbox")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--limit-seconds", type=float, default=1500, help="begin no submission after this time")
    options = parser.parse_args()
    if options.engine and not (options.problems and options.solutions):
        parser.error("--engine needs --problems and --solutions")
    return options


if __name__ == "__main__":
    main()
