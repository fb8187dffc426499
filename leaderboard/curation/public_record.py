"""A problem as its reader may have it: for the API and for exports. Held-out files are named, never shown."""

from collections.abc import Iterable
from typing import Any

from leaderboard import visibility
from problems.models import Problem
from problems.spec.case import is_held_out
from problems.spec.kinds import SITE_KINDS
from problems.spec.record import FileRole, ProblemRecord
from problems.spec.solution import SourceFile

COLUMNS = (
    "task_id", "slug", "kind", "type", "group", "title", "difficulty", "tags", "record_md5", "grading_digest",
    "cases", "has_benchmark", "has_baseline", "timed_work",
)  # fmt: skip


def undisclosed(problem: Problem) -> dict[str, Any]:
    """The columns that are told in part: held-out cases are left out, and so are a question's digests, from which its
    answer could be found by trying a few."""
    shown = [case for case in problem.cases if not is_held_out(case["name"])]
    return {"cases": shown} | ({"record_md5": "", "grading_digest": ""} if problem.kind in SITE_KINDS else {})


def public_record(user: Any, problem: Problem) -> dict[str, Any]:
    """The fields of a problem that this user may read, if the user may read its statement. `user` None is anybody."""
    spec = problem.spec
    files = visibility.shown_files(user, spec)
    return {
        **{name: getattr(problem, name) for name in COLUMNS},
        **undisclosed(problem),
        **spec.public_facts(),
        **_explained(user, problem, spec),
        "statement": spec.prompt,
        "context_files": _shown(files.of_role(FileRole.CONTEXT)),
        "starters": {language: _shown(files) for language, files in spec.starters.items()},
        "starter_files": _shown(spec.podium.starter),
        "visible_test_files": _shown(files.of_role(FileRole.TEST)),
        "held_out_paths": sorted(set(files.held_out_paths)),
    }


def _explained(user: Any, problem: Problem, spec: ProblemRecord) -> dict[str, str]:
    explanation = visibility.shown_explanation(user, problem.release, spec)
    return {"explanation": explanation} if explanation else {}


def _shown(files: Iterable[SourceFile]) -> list[dict[str, str]]:
    return [{"path": file.path, "content": file.content} for file in files]
