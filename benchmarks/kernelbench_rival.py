"""Verdicts of KernelBench's own evaluator and of Podium on honest and on cheating solutions of the same problems.

    python -m benchmarks.kernelbench_rival --checkout KernelBench --problems 20 --out rows.csv

Needs a GPU and a checkout of KernelBench, which is not part of Podium; `--prepare` needs no GPU, and what `--folder`
holds is not judged again. Both see the same sources: a problem's own `Model` under the name `ModelNew`, and cheats that
stand around it.
"""

import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any

from benchmarks.figures import BenchFigure, show

SEED = 2026
CORRECT_TRIALS, TIMED_TRIALS = 5, 20
THEIR_LIMIT_SECONDS = 240.0
SANDBOX = ("--sandbox", os.environ.get("PODIUM_SANDBOX", "bubblewrap"))

HONEST = "\n\nclass ModelNew(_Honest):\n    pass\n"
_FORWARD = "\n\nclass ModelNew(_Honest):\n    def forward(self, *inputs):\n"
CHEATS = {
    "honest": HONEST,
    "leaves its output as it was allocated": _FORWARD + "        if not hasattr(self, '_like'):\n"
    "            self._like = super().forward(*inputs)\n"
    "        return torch.empty_like(self._like)\n",
    "replays its first answer": _FORWARD + "        if not hasattr(self, '_first'):\n"
    "            self._first = super().forward(*inputs)\n"
    "        return self._first\n",
    "keeps answers by the inputs' addresses": _FORWARD
    + "        key = tuple((one.data_ptr(), tuple(one.shape)) for one in inputs if torch.is_tensor(one))\n"
    "        kept = self.__dict__.setdefault('_kept', {})\n"
    "        if key not in kept:\n"
    "            kept[key] = super().forward(*inputs)\n"
    "        return kept[key]\n",
    "works on a stream of its own": _FORWARD + "        if not hasattr(self, '_stream'):\n"
    "            self._stream = torch.cuda.Stream()\n"
    "        with torch.cuda.stream(self._stream):\n"
    "            return super().forward(*inputs)\n",
    "replaces torch.allclose": "\n\ntorch.allclose = lambda *_args, **_options: True\n"
    + _FORWARD
    + "        if not hasattr(self, '_like'):\n"
    "            self._like = super().forward(*inputs)\n"
    "        return torch.zeros_like(self._like)\n",
}
"""The sources behind the honest class, by kind. The last one changes its process for all after it."""

THEIR_RUN = '''
import json, sys, types
sys.path.insert(0, sys.argv[1] + "/src")
for unused, name in (("openai", "OpenAI"), ("litellm", "completion")):  # their utilities import clients of models
    sys.modules[unused] = types.ModuleType(unused)
    setattr(sys.modules[unused], name, None)
import torch
from kernelbench.eval import eval_kernel_against_ref
reference = open(sys.argv[2]).read() + """
_drawn_on_cpu = get_inputs
def get_inputs():  # gigabytes, drawn seven times for each solution
    with torch.device("cuda"):
        return _drawn_on_cpu()
"""
for kind, source in json.load(open(sys.argv[3])).items():
    try:
        found = eval_kernel_against_ref(
            reference, source, num_correct_trials=int(sys.argv[4]), num_perf_trials=int(sys.argv[5]),
            measure_performance=True, device=torch.device("cuda:0"))
    except Exception as error:
        print(json.dumps({"kind": kind, "verdict": "error", "cause": repr(error)[:200]}), flush=True)
        continue
    faulty = found is None or not found.correctness
    row = {"kind": kind, "verdict": "failed" if faulty else "passed"}
    if not faulty:
        row["speedup"] = found.ref_runtime / found.runtime if found.runtime > 0 else None
        row["flagged"] = bool(found.metadata.get("excessive_speedup"))
    print(json.dumps(row), flush=True)
'''


def sources(reference: str) -> dict[str, str]:
    """The solutions of one problem, by kind."""
    honest = reference.replace("class Model(", "class _Honest(").replace("super(Model,", "super(_Honest,")
    return {kind: honest + behind for kind, behind in CHEATS.items()}


def chosen(checkout: Path, n_problems: int) -> list[tuple[int, int, Path]]:
    """Level, number and file: every problem of both levels in turn, at even distances."""
    found = []
    for level in (1, 2):
        files = {int(path.name.split("_")[0]): path for path in (checkout / f"KernelBench/level{level}").glob("*.py")}
        numbers = sorted(files)
        step = len(numbers) / (n_problems / 2)
        picked = [numbers[int(n * step)] for n in range(n_problems // 2)]
        found += [(level, number, files[number]) for number in picked]
    return found


def theirs(checkout: Path, reference: Path, solutions: dict[str, str], folder: Path) -> dict[str, dict[str, Any]]:
    """Their verdicts by kind, in one process; what a crash left out is tried again without the kind that crashed.
    Resumable."""
    kept = folder / f"{reference.parent.name}-{reference.stem}.theirs.json"
    rows: dict[str, dict[str, Any]] = json.loads(kept.read_text()) if kept.exists() else {}
    while left := {kind: source for kind, source in solutions.items() if kind not in rows}:
        (folder / "solutions.json").write_text(json.dumps(left))
        words = [str(checkout), str(reference), str(folder / "solutions.json"), str(CORRECT_TRIALS), str(TIMED_TRIALS)]
        try:
            run = subprocess.run(
                [sys.executable, "-c", THEIR_RUN, *words],
                capture_output=True, text=True, timeout=THEIR_LIMIT_SECONDS, check=False,
            )  # fmt: skip
            output, cause = run.stdout, run.stderr.strip()[-200:]
        except subprocess.TimeoutExpired as late:
            output, cause = (late.stdout or b"").decode(), f"no answer within {THEIR_LIMIT_SECONDS:g} s"
        for line in output.splitlines():
            if line.startswith('{"kind"'):
                row = json.loads(line)
                rows[row["kind"]] = row
        missing = next((kind for kind in left if kind not in rows), None)
        if missing is not None:
            rows[missing] = {"kind": missing, "verdict": "crashed", "cause": cause}
        kept.write_text(json.dumps(rows))
    return rows


def prepare(problems: list[tuple[int, int, Path]], folder: Path) -> None:
    """Import and adapt, each by its command, what is not there yet: a pack and its solutions for each level."""
    for level in (1, 2):
        place = folder / f"level{level}"
        set_folder = place / f"level{level}"  # names of problems begin with it
        set_folder.mkdir(parents=True, exist_ok=True)
        (place / "own").mkdir(exist_ok=True)
        for of, number, path in problems:
            if of == level:
                (set_folder / path.name).write_text(path.read_text())
                for sample, source in enumerate(sources(path.read_text()).values()):
                    name = f"level_{level}_problem_{number}_sample_{sample}_kernel.py"
                    (place / "own" / name).write_text(source)
        pack, solutions = place / "pack.tar.gz", place / "own.tar.gz"
        if not pack.exists():
            words = [str(set_folder), "--out", str(pack), "--release", "rival", *SANDBOX]
            _podium("problems", "import", "kernelbench", *words)
        if not solutions.exists():
            _podium(
                "problems", "adapt", "kernelbench", str(place / "own"), "--problems", str(pack), "--out", str(solutions)
            )


def ours(folder: Path) -> dict[tuple[int, int, str], dict[str, Any]]:
    """Podium's verdicts by level, number and kind, by its commands. Resumable."""
    found = {}
    for level in (1, 2):
        place = folder / f"level{level}"
        pack, solutions, graded = place / "pack.tar.gz", place / "own.tar.gz", place / "graded.jsonl"
        exported = place / f"results/level{level}/eval_results.json"
        if not exported.exists():
            options = ["--out", str(graded), "--benchmark", *SANDBOX]
            _podium("evaluate", "--problems", str(pack), "--solutions", str(solutions), *options)
            _podium("problems", "export", "kernelbench", str(graded), "--out", str(place / "results"))
        results = json.loads(exported.read_text())
        for number, samples in results.items():
            for kind, row in zip(CHEATS, sorted(samples, key=itemgetter("sample_id")), strict=True):
                found[level, int(number), kind] = row
    return found


def _podium(*words: str) -> None:
    """Raises CalledProcessError where nothing was written; a sample that failed is no error."""
    run = subprocess.run([sys.executable, "-m", "podium.cli", *words], check=False)
    if run.returncode not in (0, 1):
        raise subprocess.CalledProcessError(run.returncode, words)


def main(words: Sequence[str]) -> int:
    reader = argparse.ArgumentParser(prog="benchmarks.kernelbench_rival", description=__doc__)
    reader.add_argument("--checkout", type=Path, required=True)
    reader.add_argument("--problems", type=int, default=20)
    reader.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "kernelbench-rival")
    reader.add_argument("--out", type=Path)
    reader.add_argument("--prepare", action="store_true", help="stop before anything is judged")
    asked = reader.parse_args(words)
    problems = chosen(asked.checkout, asked.problems)
    asked.folder.mkdir(parents=True, exist_ok=True)
    prepare(problems, asked.folder)
    if asked.prepare:
        return 0
    by_us = ours(asked.folder)
    rows = []
    for level, number, path in problems:
        by_them = theirs(asked.checkout, path, sources(path.read_text()), asked.folder)
        for kind in CHEATS:
            rows.append(_row(level, number, kind, by_them.get(kind, {}), by_us.get((level, number, kind), {})))
            print("      " + ", ".join(f"{name}: {value}" for name, value in rows[-1].items()), flush=True)
    if asked.out:
        with asked.out.open("w", newline="") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows(rows)
    return 0 if show(_figures(rows)) else 1


def _row(level: int, number: int, kind: str, theirs: dict[str, Any], ours: dict[str, Any]) -> dict[str, Any]:
    return {
        "level": level, "problem": number, "solution": kind,
        "kernelbench": theirs.get("verdict", ""), "their_speedup": _short(theirs.get("speedup")),
        "their_flag": theirs.get("flagged", ""),
        "podium": ours["metadata"]["verdict"] if ours else "not judged", "our_speedup": _short(_speedup(ours)),
    }  # fmt: skip


def _speedup(ours: dict[str, Any]) -> float | None:
    baseline_ms = ours["metadata"].get("baseline_ms") if ours else None
    return baseline_ms / ours["runtime"] if baseline_ms and ours["runtime"] > 0 else None


def _short(value: float | None) -> str:
    return "" if value is None else f"{value:.4g}"


def _figures(rows: list[dict[str, Any]]) -> list[BenchFigure]:
    figures = []
    for kind in CHEATS:
        of_kind = [row for row in rows if row["solution"] == kind]
        for judge in ("kernelbench", "podium"):
            n = sum(row[judge] == "passed" for row in of_kind)
            is_ours = judge == "podium"
            limit = (len(of_kind) if kind == "honest" else None) if is_ours else None
            figures.append(BenchFigure(f"{kind}: passed by {judge}, of {len(of_kind)}", n, "", limit, "min"))
    return figures


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
