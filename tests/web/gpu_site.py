"""A GPU release whose results are imported: what a visitor without a GPU finds. The times are made up."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from leaderboard.imports.import_results import ImportTarget, import_results
from leaderboard.models import Evaluation, Track
from problems.models import Problem, Release
from tests import factories, graded, packs

FLAG = {"code": "busy_disagrees", "scope": "time", "detail": "The device was at work twice as long as is claimed."}
WORK = [
    {"flops": 4e9, "bytes": 8e6},
    {"flops": 2e9, "bytes": 4e9},
    {"bytes": 6e9},
    {"flops": 1e12, "bytes": 1e8, "flops_dtype": "fp16"},
    {},
]
"""Work by problem: bound by arithmetic, by memory, of bytes alone, in half precision, and undeclared."""


def gpu_problem(n: int) -> dict[str, Any]:
    podium = {"build_only": [], "title": f"Kernel number {n}", **WORK[n % len(WORK)]}
    needs = {"min_cuda_toolkit": "13.1"} if n == 5 else {"compute_capability": "10.0"} if n == 6 else {}
    group = "cuda-kernels" if n % 2 == 0 else "cublas"
    return packs.problem(
        f"Kernel/{n}", type="cuda_cpp", podium=podium, group=group, benchmark_command="sh t.sh", **needs
    )


@dataclass(frozen=True)
class GpuSite:
    """Seven problems, of which the track skips two, and two entrants with imported results."""

    release: Release
    track: Track

    def problem(self, n: int) -> Problem:
        return self.release.problems.get(position=n)

    def evaluation(self, n: int, index: int = 0) -> Evaluation:
        """An evaluation of the first entrant's sample."""
        rows = Evaluation.objects.filter(problem=self.problem(n), sample__index=index)
        return rows.order_by("submission_id").first()

    @property
    def timed(self) -> Evaluation:
        """One that passed and was timed, on a problem that declares its work."""
        return self.evaluation(1)


def make_gpu_site(cast: factories.Cast, folder: Path) -> GpuSite:
    track = factories.TrackFactory(
        slug="nvidia-h200-cuda13.0", title="NVIDIA H200, CUDA 13.0", device="gpu", hardware_name=graded.H200,
        compute_capability="9.0", toolkit="13.0",
    )  # fmt: skip
    release = factories.release(7, "gpu-1", problem=gpu_problem, ks=[1, 2])
    factories.track_actions.offer(None, release, track)
    for entrant, factor in ((cast.entrant, 1.0), (cast.strangers_entrant, 1.7)):
        _bring(ImportTarget(entrant, release, track), factor, folder / f"{entrant.slug}.jsonl")
    factories.rank(release, track)
    track.refresh_from_db()
    return GpuSite(release, track)


def _bring(place: ImportTarget, factor: float, path: Path) -> None:
    problems = list(place.release.problems.order_by("position"))
    rows = []
    for problem in problems:
        if problem.position >= len(WORK):
            rows += [graded.row(problem, index, "skipped") for index in range(2)]
            continue
        flags = [FLAG] if problem.position == 3 and factor > 1 else []
        rows.append(graded.row(problem, 0, time_ms=(2.0 + problem.position) * factor, flags=flags))
        rows.append(graded.row(problem, 1, "test_failed" if problem.position % 2 else "passed", time_ms=3.0 * factor))
    import_results(None, place, graded.write(path, rows), path.name)
