"""Cases of several input sets: whether they fit into the memory, whether the reference justifies their number, and
whether a call with one set bears out the time of a call among them."""

import math
import statistics
from collections.abc import Sequence

from problems.formats.functions.inside.arrays import ITEM_BYTES
from problems.spec.function.manifest import MAX_INPUT_SETS, Manifest, ManifestCase
from problems.spec.function.problem import FunctionProblem
from problems.spec.input_sets import WRONG_SETS
from problems.spec.shortest import LEAST_GO_MS
from runners.agent.ground.errors import UnusableProblem
from runners.agent.judges.function.contest import Contest
from runners.agent.judges.function.inside.orders import CaseReply
from runners.agent.judges.judgement import Finding
from runners.wire.protocol import Audience, CaseField, CaseReport

MOST_FACTOR = 1.5
"""A call with one set may take so many times as long as one among several."""
MEMORY_SHARE = 0.5
"""Share of the memory that the arrays of all sets may take, with the checker's copies of them."""


def call_ms(replies: Sequence[CaseReply], n_sets: int) -> float:
    """The time of a call in goes of all sets: the median of the processes' medians."""
    goes_ns = [statistics.median(one.clock_ns) - one.overhead_ns for one in replies]
    return float(statistics.median(goes_ns)) / n_sets / 1e6


def one_set_ms(replies: Sequence[CaseReply]) -> float:
    """The time of a call with one set. Other work on the machine only lengthens it, so the least process counts."""
    return float(min(one.one_set_ns for one in replies if one.one_set_ns is not None)) / 1e6


def is_borne_out(replies: Sequence[CaseReply], n_sets: int) -> bool:
    """Whether the call with one set is not much longer, beyond the spread that goes of one set had when calibrated."""
    slack_ms = max(one.one_set_spread_ns for one in replies) / 1e6
    return bool(one_set_ms(replies) <= MOST_FACTOR * max(call_ms(replies, n_sets), 0.0) + slack_ms)


def many_sets_disagree(problem: FunctionProblem, replies: Sequence[CaseReply]) -> list[Finding]:
    """A flag if the time of a case among several sets is too short for that with one."""
    for number, case in enumerate(problem.manifest.cases):
        own = [one for one in replies if one.case == number and one.one_set_ns is not None]
        if own and case.ranks is not False and not is_borne_out(own, case.input_sets):
            among = f"{call_ms(own, case.input_sets):.4g} ms among {case.input_sets} input sets"
            words = f"In case {case.name} a call takes {among} and {one_set_ms(own):.4g} ms with one."
            return [Finding("many_sets_disagree", words)]
    return []


def with_wrong_sets(
    reports: Sequence[CaseReport], problem: FunctionProblem, runs: Sequence[Contest]
) -> list[CaseReport]:
    """The reports on all cases of a problem whose reference has passed, with what is wrong with their input sets."""
    replies = [[seen.cases[place] for seen in runs] for place in range(len(reports))]
    found = zip(reports, problem.manifest.cases, replies, strict=True)
    return [_with(report, why) if (why := why_wrong(case, own)) else report for report, case, own in found]


def _with(report: CaseReport, why: str) -> CaseReport:
    field = CaseField(name=WRONG_SETS, value=why, audience=Audience.ORGANISER)
    return report.model_copy(update={"fields": [*report.fields, field]})


def why_wrong(case: ManifestCase, replies: Sequence[CaseReply]) -> str:
    """The reason why the reference's times do not justify the number of sets; empty if they do, and on a GPU."""
    if case.input_sets == 1 or replies[0].one_set_ns is None:
        return ""
    one_ms, many_ms = one_set_ms(replies), call_ms(replies, case.input_sets)
    if one_ms >= LEAST_GO_MS:
        return f"one call takes {one_ms:.3g} ms, which is long enough: leave `input_sets` out"
    if case.input_sets * many_ms < LEAST_GO_MS:
        enough = math.ceil(LEAST_GO_MS / many_ms) if many_ms > 0 else MAX_INPUT_SETS + 1
        remedy = f"use {enough} or more" if enough <= MAX_INPUT_SETS else "make the case larger"
        return f"a go of {case.input_sets} sets takes {case.input_sets * many_ms:.3g} ms, less than 0.2 ms: {remedy}"
    if not is_borne_out(replies, case.input_sets):
        return f"a call takes {many_ms:.3g} ms among {case.input_sets} sets and {one_ms:.3g} ms with one"
    return ""


def check_memory(problem: FunctionProblem, memory_bytes: int) -> None:
    """Raises UnusableProblem if the sets of a case, with the checker's copies, take more than half of the memory."""
    for case in (one for one in problem.manifest.cases if one.input_sets > 1 and problem.device == "cpu"):
        needed = sets_bytes(problem.manifest, case)
        if needed > MEMORY_SHARE * memory_bytes:
            words = f"the {case.input_sets} input sets of case {case.name} need {needed} bytes"
            raise UnusableProblem(f"{words}, more than half of the {memory_bytes} bytes of memory that it has here")


def sets_bytes(manifest: Manifest, case: ManifestCase) -> int:
    """Bytes of the arrays that are shared, drawn and expected, and of the copies of the answers."""
    total = 0
    for one in manifest.parameters:
        if one.kind == "array":
            copies = 1 + (one.direction != "out") + 2 * one.is_written
            is_once = one.role != "data" and not one.is_written
            total += copies * case.elements(one.name) * ITEM_BYTES[one.dtype] * (1 if is_once else case.input_sets)
    return total
