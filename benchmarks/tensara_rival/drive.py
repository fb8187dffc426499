"""Sends one solution through a checkout of Tensara's engine, as its site does, and writes the engine's events.

Runs in a process of its own with the engine on PYTHONPATH. Each event is a line: the phase, the seconds since the
submission, and the event. The engine forks a process for the check and another for the benchmark.
"""

import argparse
import asyncio
import importlib
import json
import multiprocessing
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.tensara_rival.stand_ins import Request, put_stand_ins

PHASES = ("checker", "benchmark")
CHECKED = "CHECKED"
LANGUAGES = {".cu": "cuda", ".py": "python"}


def main() -> None:
    options = _options()
    multiprocessing.set_start_method("fork")  # the engine hands closures to its processes
    began = time.monotonic()
    put_stand_ins()
    engine = _engine()
    with options.events.open("w") as out:
        _write(out, {"phase": "start", "at_s": time.monotonic() - began, "event": {"status": "IMPORTED"}})
        began = time.monotonic()
        body = _body(options.definition, options.slug, options.solution)
        for phase, event in submitted(engine, options.gpu, body):
            _write(out, {"phase": phase, "at_s": time.monotonic() - began, "event": event})
        _write(out, {"phase": "end", "at_s": time.monotonic() - began, "event": {"status": "ENDED"}})


def _engine() -> Any:
    """The engine's routes, without the listings, which it makes for show."""
    utils = importlib.import_module("utils")
    utils.__dict__["yield_ptx_sass"] = lambda *_: iter(())
    return importlib.import_module("api")


def _body(definition: Path, slug: str, solution: Path) -> dict[str, str]:
    return {
        "solution_code": solution.read_text(),
        "problem_def": definition.read_text(),
        "problem": slug,
        "language": LANGUAGES[solution.suffix],
    }


def submitted(engine: Any, gpu: str, body: dict[str, str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """(phase, event) of the check and, if it accepts the solution, of the benchmark."""
    for phase in PHASES:
        last = ""
        for event in _events(getattr(engine, phase), gpu, body):
            last = event.get("status", last)
            yield phase, event
        if last != CHECKED:
            return


def _events(route: Any, gpu: str, body: dict[str, str]) -> Iterator[dict[str, Any]]:
    response = asyncio.run(route(gpu, Request(body)))
    if isinstance(response.content, dict):
        raise RuntimeError(f"the engine refused the request: {response.content}")
    for text in response.content:
        yield json.loads(text.removeprefix("data: "))


def _write(out: Any, line: dict[str, Any]) -> None:
    out.write(json.dumps(line) + "\n")
    out.flush()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--definition", type=Path, required=True, help="the problem's def.py")
    parser.add_argument("--slug", required=True)
    parser.add_argument("--solution", type=Path, required=True)
    parser.add_argument("--gpu", required=True, help="a name that the engine knows, such as H200")
    parser.add_argument("--events", type=Path, required=True)
    return parser.parse_args()


if __name__ == "__main__":
    main()
