"""The outcome of a mutant by its verdict: an audit counts those that were built and ran."""

from collections.abc import Mapping
from typing import Literal

from runners.wire.protocol import Verdict

MutantOutcome = Literal["killed", "survived", "not_run"]
_RAN: Mapping[str, Mapping[str, MutantOutcome]] = {
    "function": {Verdict.WRONG_ANSWER: "killed", Verdict.PASSED: "survived"},
    "command": {
        Verdict.WRONG_ANSWER: "killed", Verdict.TEST_FAILED: "killed", Verdict.TIMED_OUT: "killed",
        Verdict.PASSED: "survived",
    },
}  # fmt: skip


def outcome_of(kind: str, verdict: str) -> MutantOutcome:
    """`kind` is the problem's. With any other verdict than these the mutant was not built or gave no answer."""
    return _RAN.get(kind, {}).get(verdict, "not_run")
