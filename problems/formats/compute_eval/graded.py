"""Graded rows: what came of each sample, as ComputeEval writes it, with Podium's own findings under a last key."""

from typing import Any, Self

from pydantic import BaseModel, SerializeAsAny, SerializerFunctionWrapHandler, ValidationError, model_serializer

from problems.formats.compute_eval.timing import PerformanceMetrics
from problems.spec.errors import RecordError, explain, to_json_line
from problems.spec.profile import Profile
from problems.spec.record import ProblemRecord
from problems.spec.records import record_from
from problems.spec.solution import Solution, TaggedSolution, load_object, solution_from


class GradedSolution(BaseModel):
    """One graded sample. Outputs are text, times milliseconds; NaN and infinities are written as null."""

    task_id: str
    passed: bool
    skipped: bool
    solution: TaggedSolution
    problem: SerializeAsAny[ProblemRecord]
    build_output: str | None = None
    test_output: str | None = None
    benchmark_output: str | None = None
    solution_metrics: PerformanceMetrics | None = None
    solution_time: float | None = None
    baseline_metrics: PerformanceMetrics | None = None
    baseline_time: float | None = None
    speedup: float | None = None
    podium: dict[str, Any] | None = None
    """Verdict, flags, measurements, provenance; left out where null."""

    @model_serializer(mode="wrap")
    def _without_empty_podium(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        data: dict[str, Any] = handler(self)
        if self.podium is None:
            data.pop("podium", None)
        return data

    @classmethod
    def of(cls, problem: ProblemRecord, solution: Solution, datapack_name: str, **outcome: Any) -> Self:
        """A row for a sample of the named pack; `outcome` holds the remaining fields."""
        named = solution.model_copy(update={"datapack_name": datapack_name})
        return cls(task_id=problem.task_id, solution=named, problem=problem, **outcome)


def graded_line(graded: GradedSolution) -> bytes:
    """The row as a JSON line with its newline; raises RecordError."""
    return to_json_line(graded)


def read_graded(line: bytes | str, profile: Profile = Profile.COMPUTE_EVAL) -> GradedSolution:
    """Read a row back; raises RecordError."""
    data = load_object(line)
    for key in ("problem", "solution"):
        if not isinstance(data.get(key), dict):
            raise RecordError(f"field `{key}` is missing")
    data["problem"] = record_from(data["problem"], profile)
    data["solution"] = solution_from(data["solution"])
    try:
        return GradedSolution.model_validate(data, context={"profile": profile})
    except ValidationError as error:
        raise RecordError(explain(error)) from error
