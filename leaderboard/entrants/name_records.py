"""Keeps the skeletons of names with the rows that bear them, and compares a new name with those of other owners."""

from typing import Any

from django.contrib.auth.models import User
from django.db import connection
from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.db.models.signals import post_delete, post_save
from django.dispatch import receiver

from leaderboard.models import Entrant, NameKind, NameSkeleton, Team
from leaderboard.models.entrants.entrant import EntrantKind
from leaderboard.models.entrants.names import LOOKS_LIKE, digest_of_skeleton, spelling, why_imitates

_FIELDS: dict[type, dict[NameKind, str]] = {
    Entrant: {NameKind.ENTRANT: "name", NameKind.ORGANISATION: "organisation"},
    Team: {NameKind.TEAM: "name"},
    User: {NameKind.USER: "username"},
}
_LOCK_SPACE = 40


@receiver(post_save, sender=Entrant)
@receiver(post_save, sender=Team)
@receiver(post_save, sender=User)
def _note(sender: type, instance: Any, update_fields: Any = None, **_: Any) -> None:
    for kind, field in _FIELDS[sender].items():
        if update_fields is None or field in update_fields:
            NameSkeleton.note(kind, instance.pk, getattr(instance, field), of_site=_is_of_site(instance))


def _is_of_site(row: Any) -> bool:
    kinds = (EntrantKind.SYSTEM, EntrantKind.BASELINE)
    return getattr(row, "is_staff", False) or getattr(row, "kind", "") in kinds


@receiver(post_delete, sender=Entrant)
@receiver(post_delete, sender=Team)
@receiver(post_delete, sender=User)
def _forget(sender: type, instance: Any, **_: Any) -> None:
    NameSkeleton.objects.filter(kind__in=_FIELDS[sender], row_id=instance.pk).delete()


def why_refused(kind: NameKind, name: str, user: Any = None, *, row_id: int | None = None) -> str:
    """Returns the reason why the user may not give this name; empty where it may stand.

    `row_id`: the row that is renamed. In a transaction, another that gives a name like it waits until this one ends.
    Organisers name baselines and the site's own accounts, so nothing is refused to them.
    """
    if not name or getattr(user, "is_staff", False):
        return ""
    if reason := why_imitates(name):
        return reason
    _wait_for_turn(kind, digest_of_skeleton(name))
    alike = NameSkeleton.objects.filter(kind=kind, digest=digest_of_skeleton(name))
    others = _of_others(kind, alike.exclude(row_id=row_id) if row_id else alike, user)
    if kind == NameKind.ORGANISATION:  # many entrants name one organisation: only another spelling imitates
        same = spelling(name)
        return LOOKS_LIKE if others and all(spelling(one.name) != same for one in others) else ""
    return LOOKS_LIKE if others else ""


def _of_others(kind: NameKind, alike: QuerySet[NameSkeleton], user: Any) -> list[NameSkeleton]:
    rows = list(alike)
    if not rows or user is None:
        return rows
    ids = [row.row_id for row in rows]
    own: set[int] = set()
    if kind in (NameKind.ENTRANT, NameKind.ORGANISATION):
        own = set(Entrant.objects.managed_by(user).filter(pk__in=ids).values_list("pk", flat=True))
    if kind == NameKind.TEAM:
        own = set(Team.objects.of(user).filter(pk__in=ids).values_list("pk", flat=True))
    return [row for row in rows if row.row_id not in own]


def _wait_for_turn(kind: NameKind, digest: str) -> None:
    """On PostgreSQL. SQLite lets one transaction write at a time, from its beginning."""
    if connection.vendor == "postgresql" and connection.in_atomic_block:
        with connection.cursor() as cursor:
            key = int.from_bytes(bytes.fromhex(digest[:8]), "big", signed=True) ^ len(kind)
            cursor.execute("SELECT pg_advisory_xact_lock(%s, %s)", [_LOCK_SPACE, key])


def alike() -> QuerySet[NameSkeleton]:
    """The names of different rows that look alike, and those that imitate by themselves; alike ones stand together."""
    several = (
        NameSkeleton.objects.values("kind", "digest")
        .annotate(n_rows=Count("pk"), n_names=Count("name", distinct=True))
        .filter(n_rows__gt=1)
        .filter(~Q(kind=NameKind.ORGANISATION) | Q(n_names__gt=1))
    )
    pairs = several.filter(kind=OuterRef("kind"), digest=OuterRef("digest"))
    return NameSkeleton.objects.filter(Exists(pairs) | Q(imitates=True)).order_by("kind", "digest", "row_id")
