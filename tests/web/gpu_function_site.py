"""A function problem for GPUs with weights and input sets, and results with every fact that a page shows. Made up."""

from dataclasses import dataclass
from typing import Any

from leaderboard.models import Evaluation
from leaderboard.models.entrants.entrant import EntrantKind
from problems.actions import releases as release_actions
from problems.models import Problem
from problems.spec.kinds import Kind
from runners.fleet.models import Attempt, Job, JobState
from runners.wire.protocol import JUDGE_VERSIONS, CaseReport, Clock, MeasurementReport, Report, Role
from tests import factories, function_site, graded, packs
from tests.spec.functions import SOFTMAX_PARAMETERS, manifest_fields, softmax_case

PYTHON = "def solution(x, scale, y, rows, cols):\n    y.copy_(x)  # solution words\n"
SHORT = "1 x 4096, decoding"
TIMES_MS = {"512 x 4096": 0.4147, "odd rows": 0.9031, SHORT: 0.0279}
CASES = [
    softmax_case(rows, 4096, name=name, input_sets=16 if name == SHORT else 1)
    for name, rows in zip(TIMES_MS, (512, 1001, 1), strict=True)
]
SCALE = {"name": "scale", "kind": "array", "dtype": "float32", "role": "weight", "const": True}
FACTS: dict[str, Any] = {
    "sm_clock_mhz": 1980.0, "sm_clock_low_mhz": 1755.0, "memory_clock_mhz": 3201.0, "temperature_c": 64.0,
    "power_w": 512.5, "energy_mj": 184220.0, "throttle_reasons": "software thermal slowdown, hardware power brake",
    "throttled_share": 0.125, "power_capped_share": 0.5, "busy_ms": 812.4, "busy_resolution_ms": 20.0,
    "held_ms": 3120.0, "call_overhead_us": 241.75, "go_to_done_us": 655.1, "inputs_inside_clock": "all",
    "noisy_processes": 2.0, "device_events_ms": 0.41466, "clock_ms": 0.419313, "as_tensara_ms": 0.41502,
    "as_tensara_gflops": 25.26571, "as_tensara_2025_gflops": 25.26601, "kernel_span_ms": 0.401792,
}  # fmt: skip
FACTS_OF_SETS = {"input_sets": 16.0, "one_set_ms": 0.031807}


@dataclass(frozen=True)
class GpuFunctionSite:
    """Two models and a baseline are judged; one more sample of the first model is running."""

    problem: Problem
    judged: Evaluation
    running: Evaluation


def make_gpu_function_site(cast: factories.Cast) -> GpuFunctionSite:
    """The node has told two of the running sample's cases."""
    manifest = manifest_fields(
        arrays="torch",
        parameters=[SOFTMAX_PARAMETERS[0], SCALE, *SOFTMAX_PARAMETERS[1:]],
        cases=[case | {"shapes": {**case["shapes"], "scale": [4096]}} for case in CASES],
    )
    fields = function_site.function(
        manifest=manifest,
        device="gpu",
        languages=["cuda", "triton", "python"],
        baseline_solution=packs.solution("row-softmax", PYTHON, "solution.py"),
        metadata={"podium": {"title": "Row softmax, scaled by weights", "limits": {"memory_bytes": 2 << 30}}},
    )
    pack = packs.problem_pack([fields], "gpu-functions-1", timing_policy="ranked")
    release = release_actions.import_release(pack).release
    release.is_public = True
    release.save()
    release_actions.publish(release)
    track = factories.TrackFactory(
        slug="nvidia-h200-cuda13.0", title="NVIDIA H200, CUDA 13.0", device="gpu", hardware_name=graded.H200,
        compute_capability="9.0", toolkit="13.0", peaks=graded.PEAKS.model_dump(mode="json"),
    )  # fmt: skip
    factories.track_actions.offer(None, release, track)
    expert = factories.EntrantFactory(
        name="Baseline: expert", slug="expert", kind=EntrantKind.BASELINE, owner=cast.organiser
    )
    for entrant, factor in ((expert, 0.8), (cast.entrant, 1.0), (cast.strangers_entrant, 1.3)):
        function_site.judged(entrant, release, track, ranked_report(factor), path="solution.py", text=PYTHON)
    problem = release.problems.get()
    running = function_site.submission(cast.entrant, release, track, 2, path="solution.py", text=PYTHON)
    waiting = running.evaluations.get(sample__index=1)
    _tell_cases(waiting, [function_site.right_case("512 x 4096"), function_site.wrong_case("odd rows")])
    own = problem.evaluations.filter(submission__entrant=cast.entrant)
    return GpuFunctionSite(problem, own.exclude(submission=running).get(), waiting)


def ranked_report(factor: float) -> Report:
    """As a node with a GPU gives it under `ranked`, with a throttled device."""
    measured = [
        one
        for role, slower in ((Role.BASELINE, 2.5), (Role.CANDIDATE, factor))
        for one in _measurements(role, {name: slower * time_ms for name, time_ms in TIMES_MS.items()})
    ]
    provenance = graded.provenance(timing_policy="ranked", judge_version=JUDGE_VERSIONS[Kind.FUNCTION])
    cases = [function_site.right_case(name) for name in TIMES_MS]
    return function_site.report(cases=cases, measurements=measured, provenance=provenance)


def _measurements(role: Role, times_ms: dict[str, float]) -> list[MeasurementReport]:
    """Measurements of the cases. With input sets the clock and the facts are others."""
    of_sets = {"clock": Clock.IN_PROCESS, "device": FACTS | FACTS_OF_SETS}
    return [
        one.model_copy(update=of_sets if one.case == SHORT else {"device": FACTS})
        for one in function_site.measurements(role, times_ms)
    ]


def _tell_cases(waiting: Evaluation, cases: list[CaseReport]) -> None:
    node = factories.NodeFactory(slug="gpu-1", title="One H200")
    job = Job.objects.get(evaluation=waiting)
    Job.objects.filter(pk=job.pk).update(state=JobState.LEASED)
    Evaluation.objects.filter(pk=waiting.pk).update(state="leased")
    told = [one.model_dump(mode="json") for one in cases]
    Attempt.objects.create(job=job, node=node, number=1, token_digest="0" * 64, work_stage="running", cases=told)
