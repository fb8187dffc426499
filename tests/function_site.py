"""Releases that mix function and command problems, and the reports of a judge of functions, written by hand."""

from typing import Any

from leaderboard.actions.intake.submit import submit
from leaderboard.intake.catalogue import catalogue_of
from leaderboard.models import Evaluation, Submission, Track
from leaderboard.rows.submissions import SubmissionMetadata
from problems.actions import releases as release_actions
from problems.formats.submission import read_submission
from problems.models import Release
from problems.spec.kinds import Kind
from runners.wire.protocol import (
    Audience,
    CaseField,
    CaseReport,
    Clock,
    LogText,
    MeasurementReport,
    Provenance,
    Report,
    Role,
    StepReport,
    Verdict,
    Witness,
)
from tests import factories, packs
from tests.spec.functions import function_fields

SIGNATURE = "const float* x, float* y, size_t rows, size_t cols"
CPP = f'#include <cstddef>\nextern "C" void solution({SIGNATURE}) {{\n    // solution words\n}}\n'
PYTHON = "import numpy as np\n\n\ndef solution(x, y, rows, cols):\n    y[...] = x  # solution words\n"
WRONG_SIGNATURE = 'extern "C" void solution(const float* x, float* y) {}\n'
REFERENCE = CPP.replace("solution words", "reference words")
HELD_OUT = "SECRET = 'definition words'\n"
SMALL, LARGE = "3 x 5", "512 x 4096"
KNOWN_BAD = {"name": "copies", "expect": "wrong_answer", "files": [{"path": "solution.py", "content": PYTHON}]}


def function(task_id: str = "row-softmax", **changes: Any) -> dict[str, Any]:
    """A function problem on CPUs with two cases, a reference in C++ and a known-bad solution in Python."""
    podium = {"title": "Row softmax", "known_bad": [KNOWN_BAD], "limits": {"memory_bytes": 2 << 30}}
    fields: dict[str, Any] = {
        "task_id": task_id,
        "definition": {"path": "def.py", "content": HELD_OUT},
        "baseline_solution": packs.solution(task_id, REFERENCE, "solution.cpp"),
        "metadata": {"difficulty": "easy", "tags": ["softmax"], "podium": podium},
    }
    return function_fields(**(fields | changes))


def solution(task_id: str = "row-softmax", text: str = CPP, path: str = "solution.cpp") -> dict[str, Any]:
    return packs.solution(task_id, text, path)


def mixed_release(name: str = "mixed-1", *, publish: bool = True, n_functions: int = 1, **metadata: Any) -> Release:
    """Public; function problems first, then one command problem, Shell/0."""
    functions = [function("row-softmax" if n == 0 else f"row-softmax-{n}") for n in range(n_functions)]
    pack = packs.problem_pack([*functions, factories.example_problem(0)], name, **metadata)
    made = release_actions.import_release(pack).release
    made.is_public, made.timing_policy = True, "quick"
    made.save()
    if publish:
        release_actions.publish(made)
    return made


def measurements(role: Role, times_ms: dict[str, float]) -> list[MeasurementReport]:
    return [
        MeasurementReport(
            role=role, case=case, median_ms=time_ms, ci_low_ms=0.99 * time_ms, ci_high_ms=1.02 * time_ms,
            runs_ms=[0.99 * time_ms, time_ms, 1.02 * time_ms], calls_ms=[[time_ms] * 5] * 3,
            clock=Clock.OUTSIDE, work_checked=True, witness=Witness.SEEN,
        )
        for case, time_ms in times_ms.items()
    ]  # fmt: skip


def right_case(name: str, n_calls: int = 32) -> CaseReport:
    return CaseReport(name=name, verdict=Verdict.PASSED, fields=[_field("n_calls", n_calls, Audience.PUBLIC)])


def wrong_case(name: str) -> CaseReport:
    """As a judge reports it: what the difference is, for the team."""
    fields = [
        _field("message", "2 of 15 elements are outside the tolerance"),
        _field("shapes", "x 512×4096, y 512×4096"),
        _field("largest_difference", "0.25"),
        _field("mean_difference", "0.012500001"),
        _field("n_wrong", 2),
        _field("n_total", 15),
        _field("first_wrong", "y[0, 3]: expected 0.125, got 0.375\ny[2, 4]: expected 0.5, got nan"),
        _field("n_calls", 1, Audience.PUBLIC),
        _field("prepare_ms", 1.5, Audience.ORGANISER),
        _field("check_ms", 0.5, Audience.ORGANISER),
    ]
    return CaseReport(name=name, verdict=Verdict.WRONG_ANSWER, fields=fields)


def _field(name: str, value: Any, audience: Audience = Audience.TEAM) -> CaseField:
    return CaseField(name=name, value=value, audience=audience)


def report(
    own_ms: dict[str, float] | None = None, baseline_ms: dict[str, float] | None = None, **changes: Any
) -> Report:
    """A pass of both cases, twice as fast as the reference on the small one, four times on the large one."""
    own = {SMALL: 0.005, LARGE: 1.0} if own_ms is None else own_ms
    baseline = {SMALL: 0.01, LARGE: 4.0} if baseline_ms is None else baseline_ms
    fields: dict[str, Any] = {
        "verdict": Verdict.PASSED,
        "witness": Witness.SEEN,
        "steps": [StepReport(name="build", exit_code=0, wall_ms=800.0, log=LogText(text="build log words"))],
        "cases": [right_case(name) for name in own],
        "measurements": [*measurements(Role.BASELINE, baseline), *measurements(Role.CANDIDATE, own)],
        "provenance": Provenance(node="node-a", cpu_model="Test CPU", timing_policy="quick"),
    }
    return Report(**(fields | changes))


def wrong_report(**changes: Any) -> Report:
    """Right on the small case, wrong on the large one."""
    fields: dict[str, Any] = {
        "verdict": Verdict.WRONG_ANSWER,
        "reason": f"case {LARGE}: 2 of 15 elements are outside the tolerance",
        "cases": [right_case(SMALL), wrong_case(LARGE)],
        "measurements": [],
    }
    return report(**(fields | changes))


def submission(
    entrant: Any, made: Release, track: Track, n_samples: int = 1, path: str = "solution.cpp", text: str = ""
) -> Submission:
    """A full submission of functions, in the path's language, and shell scripts; everything of it is queued."""
    kinds = made.problems.values_list("task_id", "kind")
    text = text or (CPP if path == "solution.cpp" else PYTHON)
    lines = [
        solution(task_id, text.replace("words", f"words {n}"), path)
        if kind == Kind.FUNCTION
        else packs.solution(task_id, f"exit 0 # {n}")
        for task_id, kind in kinds
        for n in range(n_samples)
    ]
    file = packs.solution_pack(lines, made.datapack_release)
    draft = read_submission(file, "pack-solutions.tar.gz", catalogue_of(made))
    metadata = SubmissionMetadata(entrant=entrant, release=made, tracks=[track], asks_to_count=True)
    return submit(factories.submitter(entrant), metadata, draft).submission


def judged(
    entrant: Any, made: Release, track: Track, *answers: Report, path: str = "solution.cpp", text: str = ""
) -> Submission:
    """Judged and ranked: the n-th sample of each function problem gets the n-th answer, every script passes."""
    stored = submission(entrant, made, track, len(answers), path, text)

    def verdict_of(evaluation: Evaluation) -> Report:
        return answers[evaluation.sample.index] if evaluation.problem.kind == Kind.FUNCTION else factories.report()

    factories.judge(stored, verdict_of)
    factories.rank(made, track)
    return stored
