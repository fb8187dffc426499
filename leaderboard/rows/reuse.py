"""Reuses results of a release's last revision for evaluations of the next one, where grading is the same."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from leaderboard.models import Evaluation, EvaluationState, ProblemTrack, Result, Submission
from leaderboard.models.submissions.evaluation import EvaluationQuerySet
from leaderboard.rows.copied_results import copy_result
from problems.models import Problem, Release


def holding(release: Release, previous: Release) -> Mapping[int, Problem]:
    """The old problem with the same task and grading digest, by new problem id."""
    old = {(one.task_id, one.grading_digest): one for one in previous.problems.defer("record")}
    return {
        one.pk: match
        for one in release.problems.defer("record")
        if (match := old.get((one.task_id, one.grading_digest)))
    }


@dataclass(frozen=True)
class Reuse:
    """Which results may be reused: the finished ones of `sources`, of the old problem by new problem id."""

    sources: EvaluationQuerySet
    problems: Mapping[int, Problem]

    def apply(self, new: Submission) -> int:
        """Copy a result to each queued evaluation that has one; returns how many were copied."""
        queued = Evaluation.objects.live().filter(submission=new, state=EvaluationState.QUEUED)
        return sum(_copied(one, source) for one, source in self._pairs(queued))

    def _pairs(self, queued: EvaluationQuerySet) -> Iterator[tuple[Evaluation, Result]]:
        differing = self._with_other_cases()
        for one in queued.select_related("sample", "problem__release"):
            problem = self.problems.get(one.problem_id)
            source = self._source(one, problem) if problem else None
            if source and (result := source.current_result):
                times_again = (one.problem_id, one.track_id) in differing or result.is_provisional_under(
                    one.problem.release.timing_policy
                )
                if not times_again or not result.measurements.exists():
                    yield one, result

    def _with_other_cases(self) -> set[tuple[int, int]]:
        """The new problems and tracks on which other cases are timed than on the old ones. Makes two queries."""
        return times_other_cases({pk: old.pk for pk, old in self.problems.items()})

    def _source(self, new: Evaluation, problem: Problem) -> Evaluation | None:
        """The latest finished evaluation of the same code on the same track, by the same version of the judge."""
        done = self.sources.filter(state=EvaluationState.DONE, track=new.track, problem=problem)
        same = done.filter(
            sample__index=new.sample.index,
            sample__solution_sha256=new.sample.solution_sha256,
            judge_version=new.judge_version,
        )
        return same.select_related("current_result__evaluation__problem").order_by("-pk").first()


def _copied(evaluation: Evaluation, old: Result) -> bool:
    result = copy_result(old, evaluation)
    moved = Evaluation.objects.filter(pk=evaluation.pk, state=EvaluationState.QUEUED)
    return bool(moved.update(state=EvaluationState.DONE, current_result=result, done_at=result.created_at))


def times_other_cases(old_of: Mapping[int, int]) -> set[tuple[int, int]]:
    """The (new problem, track) ids whose timed cases are fixed and differ from those fixed on the old problem there.

    `old_of`: the old problem's id by the new one's. Makes two queries.
    """
    before, now = (_digests(ids) for ids in (old_of.values(), old_of.keys()))
    return {
        (problem_id, track_id)
        for (problem_id, track_id), digest in now.items()
        if digest and before.get((old_of[problem_id], track_id), digest) not in ("", digest)
    }


def _digests(problem_ids: Iterable[int]) -> dict[tuple[int, int], str]:
    rows = ProblemTrack.objects.filter(problem__in=list(problem_ids)).only("problem_id", "track_id", "timed_cases")
    return {(one.problem_id, one.track_id): one.digest for one in rows}
