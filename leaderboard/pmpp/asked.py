"""Reads what PMPP's client asks for: a task by its folder's name, a solution of one file, one target, a time limit."""

import re
from typing import Annotated

from django.db.models import QuerySet
from pydantic import BaseModel, Field

from leaderboard.errors import Refused
from leaderboard.intake.catalogue import catalogue_of
from leaderboard.models import PmppToken
from leaderboard.visibility import is_organiser
from problems.formats.submission import IncomingSample, PackRefused, single_solution
from problems.models import Problem, Release
from problems.spec.kinds import Kind
from problems.spec.solution import FileSolution, SourceFile

MAX_SOURCE_BYTES = 500_000
MAX_SECONDS = 3600
FOLDER = "eval-tasks/"
_TARGET = re.compile(r"[A-Za-z0-9._-]+")

Seconds = Annotated[int, Field(ge=1, le=MAX_SECONDS)]


class EvaluateRequest(BaseModel):
    """The body of POST /evaluate."""

    task_dir: str
    student_file: str
    code: str
    student_targets: list[str] = ["test_student"]
    timeout_sec: Seconds = 180


class CheckRequest(BaseModel):
    """The body of POST /check-task."""

    task_dir: str
    reference_targets: list[str] = ["test_reference"]
    timeout_sec: Seconds = 180


class CodeTooLarge(Refused):
    """The source code is larger than PMPP's own server takes."""

    status = 413


def tasks_of(token: PmppToken) -> dict[str, str]:
    """The task_ids of the tasks by name: the last part of the task_id, or the slug if two share that."""
    ids = list(_tasks(token).order_by("position").values_list("task_id", "slug"))
    short = [task_id.rpartition("/")[2] for task_id, _ in ids]
    return {name if short.count(name) == 1 else slug: task_id for name, (task_id, slug) in zip(short, ids, strict=True)}


def find_problem(token: PmppToken, task_dir: str) -> Problem:
    """The problem of this name, slug or task_id. Raises Refused."""
    name = task_dir.removeprefix(FOLDER).strip("/")
    rows = _tasks(token)
    found = rows.filter(task_id=tasks_of(token).get(name, name)).first() or rows.filter(slug=name).first()
    if found is None:
        words = f"Invalid task_dir: {task_dir[:200]!r} is no coding task of this release. GET tasks lists them."
        raise Refused("unknown_task", words)
    found.release = token.release
    return found


def _tasks(token: PmppToken) -> QuerySet[Problem]:
    """The release's command problems that the token's user may read now."""
    readable = Release.objects.readable_by(token.user)
    rows = Problem.objects.filter(release=token.release_id, release__in=readable, kind=Kind.COMMAND)
    return rows if is_organiser(token.user) else rows.filter(do_not_release=False)


def the_target(targets: list[str]) -> str:
    """The one target. Its name is only repeated in the answer: the problem has its own commands. Raises Refused."""
    if len(targets) != 1:
        raise Refused("bad_targets", f"Give one target; there are {len(targets)}. A task is tested by one command.")
    if not _TARGET.fullmatch(targets[0]):
        raise Refused("bad_target", f"Invalid target name: {targets[0][:100]!r}. Use letters, digits, '.', '_', '-'.")
    return targets[0]


def solution_of(problem: Problem, said: EvaluateRequest) -> IncomingSample:
    """The code as the problem's solution. Raises Refused."""
    size = len(said.code.encode("utf-8", "ignore"))
    if size > MAX_SOURCE_BYTES:
        raise CodeTooLarge("too_large", f"Source code too large: {size:,} bytes (max {MAX_SOURCE_BYTES:,}).")
    starter = problem.spec.starter_files
    if len(starter) != 1:
        paths = ", ".join(one.path for one in starter)
        words = f"A solution of {problem.task_id} has {len(starter)} files ({paths}); these routes take one. Submit it."
        raise Refused("several_files", words)
    path = starter[0].path
    if said.student_file != path and ("/" in said.student_file or not said.student_file.endswith(".cu")):
        words = f"student_file is {said.student_file[:200]!r}; use {path!r}, or any name.cu without folders."
        raise Refused("bad_student_file", words)
    return _incoming(problem, [SourceFile(path=path, content=said.code)])


def reference_of(problem: Problem) -> IncomingSample:
    """The problem's reference as a solution. Raises Refused if there is none."""
    reference = problem.spec.reference
    if not isinstance(reference, FileSolution):
        raise Refused("no_reference", f"{problem.task_id} has no reference solution to check.")
    return _incoming(problem, reference.files)


def _incoming(problem: Problem, files: list[SourceFile]) -> IncomingSample:
    try:
        return single_solution(problem.task_id, files, catalogue_of(problem.release)).samples[0]
    except PackRefused as refusal:
        raise Refused(refusal.code, refusal.message) from refusal
