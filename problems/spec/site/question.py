"""A site's rules for a question."""

from collections.abc import Iterator
from typing import Any

from problems.spec.errors import Fault
from problems.spec.question.numerals import numeral
from problems.spec.question.problem import QuestionProblem, ShortAnswerProblem
from problems.spec.site.bounds import MAX_TOLERANCE, outside
from problems.spec.site.patterns import has_group, why_slow


def question_faults(problem: QuestionProblem) -> Iterator[Fault]:
    """Values with which the question cannot work."""
    yield from pattern_faults(problem.final_answer_patterns)
    if isinstance(problem, ShortAnswerProblem):
        yield from outside(("numeric_tolerance",), problem.numeric_tolerance, 0, MAX_TOLERANCE)


def pattern_faults(patterns: Any) -> Iterator[Fault]:
    """A record's patterns that may be slow; `patterns` may be any JSON value."""
    for n, pattern in enumerate(patterns if isinstance(patterns, list) else []):
        if isinstance(pattern, str) and (reason := why_slow(pattern)):
            yield Fault(("final_answer_patterns", n), f"the pattern {pattern[:80]!r} {reason}")


def question_warnings(problem: QuestionProblem) -> Iterator[str]:
    """Warnings for its author."""
    for pattern in problem.final_answer_patterns:
        if not has_group(pattern):
            yield f"the pattern {pattern[:80]!r} has no group, so that all that it matches is taken for the answer"
    if isinstance(problem, ShortAnswerProblem) and problem.numeric_tolerance and numeral(problem.answer) is None:
        yield "a tolerance for an answer that is no number"
