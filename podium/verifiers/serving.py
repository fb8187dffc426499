"""The commands `podium verifiers tasks` and `judge`, which an environment runs to get prompts and verdicts.

They speak JSON lines, so that an environment needs no package of ours, only the program.
"""

import json
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, TextIO

import typer

from podium.generation.commands import problems_of
from podium.generation.errors import CannotGenerate
from podium.generation.prompts import Prompts
from podium.refusals import refuse, refusing
from podium.remote.site_config import NotConfigured
from podium.verifiers.rulings import JudgingFault, ReplyJudge
from problems.formats.errors import PackRefused
from runners.wire.extras import how_to_install

AHEAD = 16
"""Replies that are built, or wait for a device, beyond those that run."""
Problems = Annotated[Path | None, typer.Option(exists=True, help="The problem pack or folder of problems.")]
Release = Annotated[str, typer.Option(help="Instead: a release on the site of `podium login`, by its slug.")]


def tasks(problems: Problems = None, release: Release = "") -> None:
    """Print each problem as a JSON line: task_id, kind, group, and the messages that ask a model for it."""
    with refusing(PackRefused, CannotGenerate):
        found, prompts = problems_of(problems, release), Prompts()
        found.check_told()
        for one in found.asked:
            line = {"task_id": one.task_id, "kind": one.kind, "group": one.group, "messages": prompts.messages(one)}
            sys.stdout.write(json.dumps(line) + "\n")


def judge(
    problems: Problems = None,
    release: Release = "",
    entrant: Annotated[str, typer.Option("--entrant", "-e", help="With --release: the entrant that submits.")] = "",
    track: Annotated[str, typer.Option("--track", "-t", help="With --release: the track.")] = "",
    sandbox: Annotated[str, typer.Option(help="With --problems: docker, bubblewrap or unconfined.")] = "",
    workers: Annotated[int | None, typer.Option(min=1, max=256, help="Replies at a time.")] = None,
) -> None:
    """Grade replies from standard input until it ends: JSON lines with id, task_id, reply and finish_reason.

    The first line on standard output is {"ready": true}. For each reply follows a line with id, verdict, passed and
    reason, or with id and fault if there is no verdict. A fault is never a verdict of the reply.
    """
    with _judge(problems, release, entrant, track, sandbox, workers) as made:
        serve(made, sys.stdin, sys.stdout)


@contextmanager
def _judge(
    problems: Path | None, release: str, entrant: str, track: str, sandbox: str, workers: int | None
) -> Iterator[ReplyJudge]:
    if bool(problems) == bool(release):
        refuse("Give --problems PACK to grade here, or --release SLUG to grade on a site.")
    if release and not (entrant and track):
        refuse("--release needs --entrant and --track: each reply becomes a submission that is not counted.")
    if problems is None:
        from podium.verifiers.site_judging import SiteJudge

        with refusing(CannotGenerate, NotConfigured):
            made = SiteJudge(release, entrant, track, workers or AHEAD)
        yield made
        return
    try:
        from podium.verifiers.judging import GradingRefused, local_judge
    except ModuleNotFoundError as error:
        words = f"needs the package {error.name}: {how_to_install('node')}"
        refuse(f"To grade here, `podium verifiers judge` {words}")
    with refusing(*GradingRefused), local_judge(problems, sandbox or None, workers) as local:
        yield local


def serve(made: ReplyJudge, requests: TextIO, answers: TextIO) -> None:
    """Answer every request, in the order in which verdicts come."""
    lock = threading.Lock()

    def say(line: dict[str, Any]) -> None:
        with lock:
            answers.write(json.dumps(line) + "\n")
            answers.flush()

    say({"ready": True, "workers": made.workers})
    with ThreadPoolExecutor(made.workers + AHEAD, thread_name_prefix="judge") as pool:
        for line in requests:
            if line.strip():
                pool.submit(lambda text: say(_answer(made, text)), line)


def _answer(made: ReplyJudge, text: str) -> dict[str, Any]:
    try:
        asked = json.loads(text)
        number, task_id, reply = asked["id"], asked["task_id"], asked["reply"]
        if task_id not in made.asked:
            return {"id": number, "fault": f"there is no problem {task_id!r}"}
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        return {"id": None, "fault": f"the request is not understood: {type(error).__name__}: {error}"}
    try:
        found = made.rule(task_id, str(reply), str(asked.get("finish_reason") or ""))
    except JudgingFault as fault:
        return {"id": number, "fault": str(fault)}
    except Exception as error:  # noqa: BLE001 - a defect of ours must be told as a fault: without an answer the environment waits
        return {"id": number, "fault": f"{type(error).__name__}: {error}"}
    return {"id": number, "verdict": found.verdict, "passed": found.passed, "reason": found.reason}
