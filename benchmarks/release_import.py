"""Measures the import of a release of 566 problems by `manage.py import_release`, Python's start included."""

import subprocess
import sys
import time

from benchmarks.figures import BenchFigure, show
from benchmarks.packs import large_problem_pack
from benchmarks.site import temporary_site

PROBLEMS = 566
LIMIT_S = 3.0


def run() -> list[BenchFigure]:
    pack = large_problem_pack(PROBLEMS)
    with temporary_site() as folder:
        path = folder / "internal-problems.tar.gz"
        path.write_bytes(pack)
        started = time.perf_counter()
        subprocess.run(
            [sys.executable, "manage.py", "import_release", str(path)], check=True, stdout=subprocess.DEVNULL
        )
        ended = time.perf_counter()
    return [BenchFigure(f"import of a {PROBLEMS}-problem pack", ended - started, "s", LIMIT_S, "max")]


if __name__ == "__main__":
    sys.exit(0 if show(run()) else 1)
