"""`manage.py rejudge`: start, list, apply or drop a rejudge from the shell."""

from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError

from leaderboard.actions.rejudging.apply_rejudge import apply
from leaderboard.actions.rejudging.rejudge import RejudgeScope, drop, start
from leaderboard.curation import rejudging
from leaderboard.management.words import as_command_errors, release_named, tracks_named
from leaderboard.models import Rejudge
from leaderboard.models.curation.rejudge import RejudgeOutcome


class Command(BaseCommand):
    help = "Judge finished evaluations again in shadow. Nothing changes until the rejudge is applied."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("release", nargs="?", help="Slug of a release.")
        parser.add_argument("--track")
        parser.add_argument("--problem", action="append", default=[], metavar="TASK_ID", help="May be repeated.")
        parser.add_argument("--node", default="", help="Only the results that this node made.")
        parser.add_argument("--counted", action="store_true", help="Counted submissions only.")
        parser.add_argument("--reason", default="", help="Why; needed to start and to apply, where it is public.")
        parser.add_argument("--as", dest="user", help="The organiser who applies it.")
        chosen = parser.add_mutually_exclusive_group()
        chosen.add_argument("--show", type=int, metavar="NUMBER", help="Print how far it is and what would change.")
        chosen.add_argument("--apply", type=int, metavar="NUMBER")
        chosen.add_argument("--drop", type=int, metavar="NUMBER")

    def handle(self, *_: Any, **said: Any) -> None:
        with as_command_errors():
            self.stdout.write("\n".join(_lines(said)))


def _lines(said: dict[str, Any]) -> Iterator[str]:
    if said["apply"] is not None:
        done = apply(_organiser(said["user"]), _numbered(said["apply"]), said["reason"])
        yield from (f"{n:,} {RejudgeOutcome(name).label}" for name, n in sorted(done.items()))
    elif said["drop"] is not None:
        drop(None, _numbered(said["drop"]), said["reason"])
        yield f"Rejudge #{said['drop']} is dropped. Nothing has changed."
    elif said["show"] is not None:
        yield from _shown(_numbered(said["show"]))
    else:
        yield from _shown(start(None, _scope(said), said["reason"]))


def _scope(said: dict[str, Any]) -> RejudgeScope:
    release = release_named(said["release"]) if said["release"] else None
    track = tracks_named([said["track"]])[0] if said["track"] else None
    if said["problem"] and release is None:
        raise CommandError("--problem needs the release whose task ids these are.")
    problems = list(release.problems.filter(task_id__in=said["problem"])) if release else []
    if lacking := set(said["problem"]) - {one.task_id for one in problems}:
        raise CommandError(f"The release has no problem {', '.join(sorted(lacking))}.")
    return RejudgeScope(release, track, problems, said["node"], said["counted"])


def _shown(rejudge: Rejudge) -> Iterator[str]:
    totals = rejudging.totals(rejudge)
    yield f"Rejudge #{rejudge.pk} is {rejudge.state}: {totals.n_judged} of {totals.n} judged."
    if rejudge.n_left_out:
        yield f"{rejudge.n_left_out} are left out: another open rejudge holds them."
    yield f"{totals.n_verdicts} verdicts and {totals.n_times} times would change."
    found = rejudging.matrix(rejudge)
    for before, cells in found.rows:
        for after, cell in zip(found.columns, cells, strict=True):
            if cell.n and cell.is_change:
                yield f"  {before} → {after}: {cell.n}"


def _numbered(number: int) -> Rejudge:
    found = Rejudge.objects.filter(pk=number).first()
    if found is None:
        raise CommandError(f"There is no rejudge #{number}.")
    return found


def _organiser(name: str | None) -> User:
    found = User.objects.filter(username=name or "", is_staff=True, is_active=True).first()
    if found is None:
        raise CommandError("Name the organiser who applies it: --as USERNAME.")
    return found
