"""Makes samples of rollouts. Infrastructure errors stay out, and no problem is left with fewer samples for it."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from podium.generation.asked import Asked
from podium.generation.replies import problem_of, solution_of
from podium.verifiers.matching import Matcher
from problems.formats.verifiers.rollouts import SavedRollout
from problems.spec.solution import FileSolution

MAX_RECORD_BYTES = 1 << 20
"""The pages show no rollout of a longer record, and packs have a limit on lines."""


class Cause(StrEnum):
    """The reason why a rollout is not in the pack."""

    INFRASTRUCTURE = "infrastructure"
    NO_PROBLEM = "no problem"
    SURPLUS = "surplus"
    """Its problem has more rollouts than one from which infrastructure errors were taken."""


@dataclass(frozen=True)
class LeftOut:
    line: int
    task_id: str
    cause: Cause
    reason: str


@dataclass(frozen=True)
class ImportedSample:
    line: int
    solution: FileSolution

    @property
    def problem(self) -> str:
        """Returns the reason why the reply holds no solution; empty if it holds one."""
        return problem_of(self.solution)


@dataclass(frozen=True)
class ImportedSamples:
    """Samples and what was left out, each in the file's order by problem; `unscored` counts ignored scoring errors."""

    samples: tuple[ImportedSample, ...]
    left_out: tuple[LeftOut, ...]
    rollouts: dict[str, int]
    unscored: int
    wrong_ids: int

    @property
    def without_samples(self) -> list[str]:
        """Problems with rollouts, none of which could be used."""
        usable = {one.solution.task_id for one in self.samples}
        return [task_id for task_id in self.rollouts if task_id not in usable]

    @property
    def counts(self) -> Counter[str]:
        return Counter(one.solution.task_id for one in self.samples)


def import_rollouts(
    rollouts: Iterable[SavedRollout], problems: Sequence[Asked], key: str = "", *, uneven: bool = False
) -> ImportedSamples:
    """Sort rollouts into samples and what is left out. With `uneven` every usable rollout stays."""
    matcher = Matcher(problems, key)
    samples: dict[str, list[ImportedSample]] = {one.task_id: [] for one in problems}
    left_out: list[LeftOut] = []
    seen: Counter[str] = Counter()
    ids: dict[int, set[str]] = {}
    unscored = 0
    for one in rollouts:
        asked = matcher.problem_of(one)
        if asked is None:
            left_out.append(_unknown(one, matcher.named_by(one)))
            continue
        seen[asked.task_id] += 1
        unscored += bool(one.unscored)
        if one.stated_id is not None:
            ids.setdefault(one.stated_id, set()).add(asked.task_id)
        if one.fault:
            left_out.append(LeftOut(one.line, asked.task_id, Cause.INFRASTRUCTURE, one.fault))
        else:
            samples[asked.task_id].append(ImportedSample(one.line, _solution(asked, one)))
    if not uneven:
        left_out += _level(samples, seen)
    kept = tuple(sample for members in samples.values() for sample in members)
    rollouts_by_task = {one.task_id: seen[one.task_id] for one in problems if seen[one.task_id]}
    wrong = sum(len(tasks) > 1 for tasks in ids.values())
    return ImportedSamples(kept, tuple(sorted(left_out, key=lambda one: one.line)), rollouts_by_task, unscored, wrong)


def _solution(asked: Asked, one: SavedRollout) -> FileSolution:
    """The record with the keys that the pages of rollouts read, but no prompt and completion if it got too long."""
    stated: dict[str, Any] = {"verifiers": {"line": one.line, "reward": one.reward}}
    stated |= {"usage": dict(one.usage)} if one.usage else {}
    spoken = {name: said for name, said in (("prompt", one.prompt), ("completion", one.completion)) if said}
    bare = solution_of(asked, one.reply, one.finish_reason, "").model_copy(update=stated)
    whole = bare.model_copy(update=spoken)
    if len(whole.to_line()) <= MAX_RECORD_BYTES:
        return whole
    return bare.model_copy(update={"rollout_left_out": "longer than 1 MiB"})


def _unknown(one: SavedRollout, name: str) -> LeftOut:
    if one.fault:
        return LeftOut(one.line, "", Cause.INFRASTRUCTURE, f"{one.fault} (and no problem is named)")
    said = f"it names {name!r}, which is no problem" if name else "neither the row nor its prompt names a problem"
    return LeftOut(one.line, "", Cause.NO_PROBLEM, said)


def _level(samples: dict[str, list[ImportedSample]], seen: Counter[str]) -> list[LeftOut]:
    """Take the last samples of problems that have more than the one with fewest.

    A site counts an absent sample as `invalid`, which would make a failed sample of an infrastructure error. The order
    of the file decides, never a reward.
    """
    counts = [len(samples[task_id]) for task_id in seen if samples[task_id]]
    fewest = min(counts, default=0)
    left = []
    for task_id, members in samples.items():
        surplus = members[fewest:]
        del members[fewest:]
        words = f"a problem has {fewest} usable rollouts, so each has {fewest}"
        left += [LeftOut(one.line, task_id, Cause.SURPLUS, words) for one in surplus]
    return left
