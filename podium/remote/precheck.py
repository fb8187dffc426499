"""Checks a submission before it is sent, with the site's own reader and the release's public task list."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from podium.remote.upload import CannotSend, solution_files
from problems.formats.coverage import absent_counts, covering
from problems.formats.submission import Catalogue, IncomingSubmission, UploadLimits, read_submission
from problems.spec.command.workspace_rules import WorkspaceRules
from problems.spec.function.manifest import Parameter
from problems.spec.function.rules import FunctionRules
from problems.spec.function.signature import FUNCTION_NAME
from problems.spec.kinds import SITE_KINDS
from problems.spec.numbered import numbered
from problems.spec.profile import Profile
from problems.spec.solution import SourceFile


def catalogue_from(release: Mapping[str, Any], problems: Iterable[Mapping[str, Any]]) -> Catalogue:
    """A catalogue from the public API. The site applies the rules that depend on held-out files."""
    rows = list(problems)
    groups = {str(row["task_id"]): str(row["group"]) for row in rows}
    questions = [str(row["task_id"]) for row in rows if row.get("kind") in SITE_KINDS]
    most_replies = dict.fromkeys(questions, release["question_samples"]) if _seals(release) else {}
    rules = dict.fromkeys(groups, WorkspaceRules.without_files())
    profile = Profile(release["profile"])
    return Catalogue(str(release["datapack_release"]), profile, groups, rules, release.get("max_samples"), most_replies)


def _seals(release: Mapping[str, Any]) -> bool:
    return release.get("question_policy") == "sealed"


def function_files(facts: Mapping[str, Any], path: Path) -> list[dict[str, str]]:
    """The file of a solution to a function problem, under the name that the site expects of its language.

    `facts` are the problem's, from the public API. Raises CannotSend with the words of the rules.
    """
    named = f"{FUNCTION_NAME}{path.suffix}"
    files = [{**file, "path": named if path.is_file() else file["path"]} for file in solution_files(path)]
    parameters = tuple(Parameter.model_validate(one) for one in facts["manifest"]["parameters"])
    rules = FunctionRules(tuple(facts["languages"]), parameters)
    if reason := rules.why_bad([SourceFile(**file) for file in files]):
        raise CannotSend(f"This would not be graded: {reason}.")
    return files


def check(file: BinaryIO, filename: str, catalogue: Catalogue, strict: bool, coverage: str = "") -> IncomingSubmission:
    """Read the submission. Raises PackRefused as the site would. The site checks the size of files."""
    size_bytes = file.seek(0, 2)
    file.seek(0)
    incoming = read_submission(file, filename, catalogue, UploadLimits(packed_bytes=size_bytes), strict)
    return covering(incoming, catalogue, coverage)


def report(incoming: IncomingSubmission, catalogue: Catalogue) -> str:
    """A line about the submission. It leaves out invalid samples, which the site finds with the held-out files."""
    held = f"{numbered(len(incoming.samples), 'sample')} of {numbered(len(incoming.sample_counts), 'problem')}"
    if not incoming.full:
        return f"{held}, a partial submission: it is not ranked on the board."
    absent = sum(absent_counts(incoming, catalogue).values())
    lacks = f" {numbered(absent, 'absent sample', 'counts')} as failed." if absent else ""
    return f"{held}, a full submission.{lacks}"
