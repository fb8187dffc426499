"""Graded rows as traces of FlashInfer Trace: one for each sample and workload, by the set's own definitions.

Times are this judge's. It compares every element within the case's tolerance and keeps no largest error of a pass: a
trace's errors are NaN, which the form admits, and `extra` says so.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from problems.formats.flashinfer.checkout import SetDefinitionFile
from problems.formats.flashinfer.records import Workload
from problems.formats.graded_rows import UNSETTLED, GradedRow
from problems.formats.set_files import slug_of

_STATUS = {
    "passed": "PASSED",
    "wrong_answer": "INCORRECT_NUMERICAL",
    "build_failed": "COMPILE_ERROR",
    "invalid": "COMPILE_ERROR",
    "source_reference_missing": "COMPILE_ERROR",
    "timed_out": "TIMEOUT",
}
OTHER_STATUS = "RUNTIME_ERROR"
COMPARED = "every element is compared within the case's tolerance; errors are not kept"
_Times = Mapping[str, Mapping[str, float]]


@dataclass
class FlashInferTraces:
    """Traces by the definition's name, as JSON lines, and what has no place in them."""

    lines: dict[str, list[str]] = field(default_factory=dict)
    op_types: dict[str, str] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)


def flashinfer_traces(rows: Iterable[GradedRow], files: Sequence[SetDefinitionFile], author: str) -> FlashInferTraces:
    """Rows of other problems, those that the judge could not settle, and passes without a time are left out."""
    known = {slug_of(one.definition.name): one for one in files if one.definition is not None}
    found = FlashInferTraces()
    seen: dict[str, int] = {}
    for row in rows:
        sample = seen.get(row.task_id, 0) if row.index is None else row.index
        seen[row.task_id] = sample + 1
        file = known.get(row.task_id)
        if file is None or file.definition is None:
            found.left_out.append(f"{row.task_id}: the set has no definition of this name")
        elif row.verdict in UNSETTLED:
            found.left_out.append(f"{row.task_id}, sample {sample + 1}: {row.verdict}")
        else:
            _add(found, row, file, f"{author}_{file.definition.name}_{sample}")
    return found


def _add(found: FlashInferTraces, row: GradedRow, file: SetDefinitionFile, solution: str) -> None:
    assert file.definition is not None
    name, times_ms, verdicts = file.definition.name, _times(row), _verdicts(row)
    found.op_types[name] = file.definition.op_type
    for number, one in enumerate(file.workloads, 1):
        evaluation = _evaluation(row, verdicts.get(number, row.verdict), times_ms.get(str(number), {}))
        if evaluation is None:
            why = "passed without a time, which `podium evaluate --benchmark` takes"
            found.left_out.append(f"{row.task_id}, {solution}, workload {one.workload.uuid}: {why}")
            continue
        trace = {
            "definition": name,
            "workload": _written(one.workload),
            "solution": solution,
            "evaluation": evaluation,
        }
        found.lines.setdefault(name, []).append(json.dumps(trace, ensure_ascii=False))


def _written(workload: Workload) -> dict[str, Any]:
    return {
        "uuid": workload.uuid,
        "axes": workload.axes,
        "inputs": {name: one.model_dump(mode="json") for name, one in workload.inputs.items()},
    }


def _number(case: str) -> str:
    """The place of a case's workload, with which an import begins the case's name: `3: batch 4`."""
    return case.partition(":")[0].strip()


def _times(row: GradedRow) -> _Times:
    """The primary median in ms by workload and role."""
    found: dict[str, dict[str, float]] = {}
    for one in (row.podium or {}).get("measurements") or []:
        if one.get("role") == "candidate" or one.get("is_primary"):
            found.setdefault(_number(one.get("case", "")), {})[one["role"]] = float(one["median_ms"])
    return found


def _verdicts(row: GradedRow) -> dict[int, str]:
    """The verdicts of single cases, where the row has them."""
    cases = (row.podium or {}).get("cases") or []
    numbered = ((_number(one.get("name", "")), str(one.get("verdict", ""))) for one in cases)
    return {int(number): verdict for number, verdict in numbered if number.isascii() and number.isdigit()}


def _evaluation(row: GradedRow, verdict: str, times_ms: Mapping[str, float]) -> dict[str, Any] | None:
    """None for a pass without both times: the form demands them."""
    podium = row.podium or {}
    known = podium.get("provenance") or {}
    status = _STATUS.get(verdict, OTHER_STATUS)
    evaluation: dict[str, Any] = {
        "status": status,
        "environment": {
            "hardware": known.get("gpu") or known.get("cpu_model") or "unknown",
            "libs": {name: str(known[name]) for name in ("toolkit", "driver", "judge_version") if known.get(name)},
        },
        "timestamp": known.get("finished_at") or "unknown",
        "log": str(podium.get("reason", ""))[:4000],
        "correctness": None,
        "performance": None,
    }
    if status in ("PASSED", "INCORRECT_NUMERICAL"):
        errors = {"max_relative_error": "NaN", "max_absolute_error": "NaN", "extra": {"podium": COMPARED}}
        evaluation["correctness"] = errors
    if status == "PASSED":
        own, reference = times_ms.get("candidate"), times_ms.get("baseline")
        if own is None or reference is None:
            return None
        evaluation["performance"] = {
            "latency_ms": own,
            "reference_latency_ms": reference,
            "speedup_factor": reference / own,
        }
    return evaluation
