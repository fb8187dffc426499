"""The verdict on one reply. A fault of a machine or a site is raised and is never a verdict."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from podium.generation.asked import Asked
from podium.generation.replies import problem_of
from problems.spec.solution import FileSolution
from runners.wire.protocol import FlagScope, Verdict


class JudgingFault(Exception):
    """No verdict: the machine, the site or its nodes failed, or the problem cannot run here."""


@dataclass(frozen=True)
class Ruling:
    """The verdict on one reply."""

    passed: bool
    verdict: str
    reason: str = ""


class ReplyJudge(Protocol):
    """Grades replies to the problems of one release. `rule` may be called by several threads."""

    workers: int

    @property
    def asked(self) -> Mapping[str, Asked]:
        """The problems by task_id."""

    def rule(self, task_id: str, reply: str, finish_reason: str) -> Ruling:
        """Raises JudgingFault."""


def ruling(verdict: str, reason: str, flags: Sequence[Mapping[str, Any]]) -> Ruling:
    """The ruling, if the verdict is the contestant's and no person has to decide first. Raises JudgingFault."""
    if verdict in (Verdict.SKIPPED, Verdict.PLATFORM_ERROR):
        raise JudgingFault(f"{verdict}: {reason or 'no reason is given'}")
    doubts = [str(flag["code"]) for flag in flags if flag["scope"] == FlagScope.VERDICT]
    if verdict == Verdict.PASSED and doubts:
        raise JudgingFault(f"the pass is in doubt until a person decides: {', '.join(doubts)}")
    return Ruling(verdict == Verdict.PASSED, verdict, reason)


def without_files(solution: FileSolution) -> Ruling:
    """A reply that holds no solution is the model's failure."""
    return Ruling(False, Verdict.INVALID.value, problem_of(solution))
