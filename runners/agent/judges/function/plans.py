"""How often a process calls a case (`Plan` in inside/plan.py), by timing policy and device."""

from typing import Any

from runners.agent.judges.function.results import PRECISION
from runners.wire.job import JobPurpose, JobRules
from runners.wire.protocol import TimingPolicy

QUICK: dict[str, Any] = {"least_calls": 5, "most_calls": 10, "enough_seconds": 0.1, "longest_seconds": 2.0}
"""Calls, seconds: the time is the median of at least five calls after two that do not count."""
RANKED: dict[str, Any] = {
    "least_calls": 30,
    "most_calls": 300,
    "enough_seconds": 0.3,
    "longest_seconds": 60.0,
    "precision": PRECISION,
}
SHORT: dict[str, Any] = {"least_calls": 5, "most_calls": 5, "enough_seconds": 0.0, "longest_seconds": 2.0}
"""The plan of a case that is too short to have a time, under `ranked`."""
TRIAL: dict[str, Any] = {"least_calls": 1, "most_calls": 1, "enough_seconds": 0.0, "longest_seconds": 2.0}
SAMPLE = {**TRIAL, "n_shown": 12}


def is_ranked(rules: JobRules) -> bool:
    return rules.timing_policy is TimingPolicy.RANKED and not rules.purpose.is_trial


def plan_of(rules: JobRules) -> dict[str, Any]:
    """How the first process of a sample is called."""
    if rules.purpose.is_trial:
        return SAMPLE if rules.purpose is JobPurpose.SAMPLE else TRIAL
    return RANKED if is_ranked(rules) else QUICK


def on_device(plan: dict[str, Any]) -> dict[str, Any]:
    """The same on a GPU: as many calls as fit in `enough_seconds` by the time of the problem's own reference. A
    solution's own times decide nothing. Eight calls a process: processes differ by more than calls, and with twenty
    intervals were a tenth narrower."""
    if plan is QUICK:
        return {**plan, "least_calls": 3, "most_calls": 7, "enough_seconds": 0.2}
    if plan is RANKED:
        return {**plan, "least_calls": 3, "most_calls": 8, "enough_seconds": 0.3, "precision": 0.0}
    return plan
