"""The 1,000 samples of a run, each with the one verdict that is right, and what a ledger says against it."""

from collections.abc import Iterator
from typing import Any

from runners.wire.protocol import Verdict
from tests.packs import problem, solution

N_PROBLEMS, N_SAMPLES = 50, 20
PASSES, TAKES_A_SECOND, FAILS, DOES_NOT_BUILD = "exit 0", "sleep 1; exit 0", "exit 1", "if"
SCRIPTS = [PASSES] * 11 + [TAKES_A_SECOND] * 2 + [FAILS] * 4 + [DOES_NOT_BUILD] * 3
VERDICTS = {
    PASSES: Verdict.PASSED,
    TAKES_A_SECOND: Verdict.PASSED,
    FAILS: Verdict.TEST_FAILED,
    DOES_NOT_BUILD: Verdict.BUILD_FAILED,
}
HANGS = "hangs/1"
"""A problem whose samples all hang. The others are given time enough on any machine."""

Sample = tuple[str, int]


def problems() -> list[dict[str, Any]]:
    """Builds are alike for all problems, so that most are found in the nodes' caches."""
    build = "sh -n solution.sh"
    quick = [problem(f"quick/{n}", build_command=build, timeout_seconds=10.0) for n in range(1, N_PROBLEMS)]
    return [*quick, problem(HANGS, build_command=build, timeout_seconds=2.0)]


def solutions() -> list[dict[str, Any]]:
    return [solution(task_id, script) for (task_id, _), (script, _) in _samples()]


def expected() -> dict[Sample, str]:
    return {sample: verdict.value for sample, (_, verdict) in _samples()}


def _samples() -> Iterator[tuple[Sample, tuple[str, Verdict]]]:
    for one in problems():
        for index, script in enumerate(SCRIPTS):
            hangs = one["task_id"] == HANGS
            text = "sleep 600" if hangs else script
            yield (one["task_id"], index), (f"{text} # {index}", Verdict.TIMED_OUT if hangs else VERDICTS[script])


def complaints(ledger: dict[str, Any]) -> Iterator[str]:
    """Samples that were lost, counted twice or judged wrongly, and work that was left open."""
    right, seen = expected(), set()
    for row in ledger["evaluations"]:
        sample = (row["sample"][0], row["sample"][1])
        if sample in seen or row["n_results"] > 1:
            yield f"doubled: {sample}, {row['n_results']} results"
        seen.add(sample)
        if row["state"] != "done" or row["n_results"] == 0:
            yield f"lost: {sample} is {row['state']}"
        elif row["verdict"] != right.get(sample):
            yield f"wrongly judged: {sample} is {row['verdict']}, not {right.get(sample)}: {row['reason']}"
    yield from (f"lost: {sample} has no evaluation" for sample in right.keys() - seen)
    yield from (f"left open: {one}" for one in ledger["attempts"] if one["state"] == "leased")
    if ledger["open_jobs"]:
        yield f"left open: {ledger['open_jobs']} jobs"


def takeovers(ledger: dict[str, Any], node: str, at: float) -> list[float]:
    """Seconds from the node's death until each job that died with it was leased again; infinite if one never was."""
    attempts = ledger["attempts"]
    cut_off = [
        one["job"] for one in attempts
        if one["node"] == node and one["state"] != "reported" and one["leased_at"] < at <= (one["ended_at"] or at)
    ]  # fmt: skip
    later = [one for one in attempts if one["leased_at"] > at]
    return [min((one["leased_at"] - at for one in later if one["job"] == job), default=float("inf")) for job in cut_off]
