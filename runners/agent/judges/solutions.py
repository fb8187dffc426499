"""A solution's files, and the reasons for which a solution of any kind may not be graded."""

from problems.spec.record import ProblemRecord, SolutionRules
from problems.spec.solution import PatchSolution, Solution, SourceFile

PATCH_REFUSED = "a patch cannot be graded: send whole files (type `file`)"


def why_invalid(problem: ProblemRecord, solution: Solution, rules: SolutionRules | None = None) -> str:
    """The reason why a solution may not be graded, or "". `rules` saves computing them for every sample."""
    if solution.task_id != problem.task_id:
        return f"the solution is for task `{solution.task_id}`, not `{problem.task_id}`"
    if isinstance(solution, PatchSolution):
        return PATCH_REFUSED
    return (rules or problem.rules()).why_bad(solution.files)


def files_of(solution: Solution) -> tuple[SourceFile, ...]:
    """A solution's files. If a path occurs twice, the last one counts. A patch has no files."""
    if isinstance(solution, PatchSolution):
        return ()
    return tuple({file.path: file for file in solution.files}.values())
