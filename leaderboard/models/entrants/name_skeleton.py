"""The skeletons of names in use, by which a name that looks like another is found without reading them all."""

from typing import ClassVar

from django.db import models

from leaderboard.models.entrants.names import digest_of_skeleton, why_imitates


class NameKind(models.TextChoices):
    """Names of one kind are compared with one another."""

    ENTRANT = "entrant", "Entrants"
    ORGANISATION = "organisation", "Organisations"
    TEAM = "team", "Teams"
    USER = "user", "Accounts"


class NameSkeleton(models.Model):
    """One name of one row. Written whenever that row is saved (leaderboard/entrants/name_records.py)."""

    kind = models.CharField(max_length=12, choices=NameKind.choices)
    row_id = models.BigIntegerField(help_text="The entrant's, team's or user's; of an organisation, the entrant's.")
    name = models.CharField(max_length=150)
    digest = models.CharField(max_length=64)
    imitates = models.BooleanField(default=False, help_text="Somebody's new name like it would be refused by itself.")

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["kind", "row_id"], name="skeleton_of_row")]
        indexes: ClassVar = [
            models.Index(fields=["kind", "digest"], name="skeletons_alike"),  # each new name asks
            models.Index(fields=["imitates"], condition=models.Q(imitates=True), name="skeletons_imitating"),
        ]

    def __str__(self) -> str:
        return self.name

    @classmethod
    def note(cls, kind: NameKind, row_id: int, name: str, *, of_site: bool = False) -> None:
        """Keep the row's name; an empty one is forgotten. `of_site`: the site or an organiser gave it."""
        if not name:
            cls.objects.filter(kind=kind, row_id=row_id).delete()
            return
        values = {
            "name": name,
            "digest": digest_of_skeleton(name),
            "imitates": not of_site and bool(why_imitates(name)),
        }
        cls.objects.update_or_create(kind=kind, row_id=row_id, defaults=values)
