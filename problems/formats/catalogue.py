"""The facts of a release that reading a submission needs: its name, its problems' groups and file rules."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from problems.formats.compute_eval.packs import ProblemPack
from problems.spec.profile import Profile
from problems.spec.record import ProblemRecord, SolutionRules


@dataclass(frozen=True)
class Catalogue:
    """A release's problems by task_id, in order.

    A problem stands here whole or as the rules for its solutions.
    `groups` maps task_id to group.
    """

    release_name: str
    profile: Profile
    groups: Mapping[str, str]
    problems: Mapping[str, ProblemRecord | SolutionRules]
    max_samples: int | None = None
    """The most samples of one problem that a submission may have; None: as many as the reader takes."""
    most_replies: Mapping[str, int] = field(default_factory=dict)
    """The most samples of each sealed question, by task_id."""
    _rules: dict[str, SolutionRules] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of_pack(cls, pack: ProblemPack) -> "Catalogue":
        """The catalogue of a problem pack."""
        problems = {record.problem.task_id: record.problem for record in pack.records}
        groups = {task_id: problem.group for task_id, problem in problems.items()}
        return cls(pack.metadata.release, pack.profile, groups, problems)

    def most_of(self, task_id: str) -> int | None:
        """The most samples of the problem that a submission may have."""
        return self.most_replies.get(task_id, self.max_samples)

    def rules_for(self, task_id: str) -> SolutionRules:
        """The file rules of a problem, worked out at most once; raises KeyError."""
        known = self._rules.get(task_id)
        if known is None:
            problem = self.problems[task_id]
            known = problem.rules() if isinstance(problem, ProblemRecord) else problem
            self._rules[task_id] = known
        return known

    def task_ids(self, groups: list[str] | None) -> list[str]:
        """The task_ids of the named groups, of all groups where None."""
        return [task_id for task_id in self.problems if groups is None or self.groups[task_id] in groups]
