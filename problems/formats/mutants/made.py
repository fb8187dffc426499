"""Makes the mutants of a problem of any kind."""

from collections.abc import Iterator, Sequence
from itertools import islice

from problems.formats.mutants import of_commands, of_functions
from problems.formats.mutants.mutant import Mutant, distinct
from problems.spec.command.problem import CommandProblem
from problems.spec.function.problem import FunctionProblem
from problems.spec.record import ProblemRecord
from problems.spec.solution import FileSolution

MOST_TRIED = 500
"""Mutants that are made of one problem before a choice of them is kept."""
GUESSED_OPERATIONS = ("",) * 12
"""Operations of a torch reference that are left out in turn where their number is not known. A mutant without an
operation that the reference does not have ends with an exception, so it does not count."""
NOT_AUDITED = "its mutants are in Python, which it does not take"


def why_none(problem: ProblemRecord) -> str:
    """Returns the reason why no mutants are made of the problem; "" if some may be."""
    if not isinstance(problem, FunctionProblem | CommandProblem):
        return "it runs no code"
    if isinstance(problem, FunctionProblem) and not {"python", "triton"} & set(problem.languages):
        return NOT_AUDITED
    return "" if isinstance(problem.reference, FileSolution) else "it has no reference of whole files"


def mutants_of(
    problem: ProblemRecord, most: int, *, printed: str, operations: Sequence[str] | None = None
) -> list[Mutant]:
    """At most `most` mutants of the problem, kinds in turn.

    `printed`: what a command's test prints with the reference. `operations`: the names of those of a torch reference.
    """
    return distinct(islice(_all(problem, printed, operations), MOST_TRIED), most)


def _all(problem: ProblemRecord, printed: str, operations: Sequence[str] | None) -> Iterator[Mutant]:
    if isinstance(problem, CommandProblem):
        yield from of_commands.mutants_of(problem, printed)
    elif isinstance(problem, FunctionProblem):
        yield from of_functions.mutants_of(problem, GUESSED_OPERATIONS if operations is None else operations)
