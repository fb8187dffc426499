"""Entrants: models, agents, people, baselines, and the hidden system entrants that verify problems."""

from typing import Any, ClassVar

from django.db import models
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone

from leaderboard.models.entrants.team import MANAGING, READING, SUBMITTING, Membership, Team, TeamRole

REFERENCE, EMPTY, KNOWN_BAD, EARLY_END, AUDIT = "_reference", "_empty", "_known-bad", "_early-end", "_audit"
"""Slugs and names of the system entrants; nobody else's begins with an underscore."""


class EntrantKind(models.TextChoices):
    MODEL = "model", "Model"
    AGENT = "agent", "Agent"
    PERSON = "person", "Person"
    BASELINE = "baseline", "Baseline"
    SYSTEM = "system", "System"


class EntrantQuerySet(models.QuerySet["Entrant"]):
    def public(self) -> "EntrantQuerySet":
        return self.exclude(kind=EntrantKind.SYSTEM)

    def readable_by(self, user: Any) -> "EntrantQuerySet":
        """Entrants whose submissions, code and logs are the user's own to read."""
        return self._held_by(user, READING)

    def submittable_by(self, user: Any) -> "EntrantQuerySet":
        """Entrants for which the user may submit: own ones, those of a team, and for organisers baselines."""
        mine = self._held_by(user, SUBMITTING)
        return mine | self.public().filter(kind=EntrantKind.BASELINE) if getattr(user, "is_staff", False) else mine

    def managed_by(self, user: Any) -> "EntrantQuerySet":
        """Entrants that the user may edit and give away."""
        return self._held_by(user, MANAGING)

    def _held_by(self, user: Any, roles: frozenset[TeamRole]) -> "EntrantQuerySet":
        """The one rule of ownership: an entrant is its owner's, or the team's by the user's role in it."""
        if not user.is_authenticated:
            return self.none()
        return self.public().filter(Q(owner=user) | Q(team__in=Team.objects.of(user, roles).values("pk")))

    def claimable(self) -> "EntrantQuerySet":
        """Entrants that nobody, an organiser or an account that has ended holds."""
        held = Q(owner=None, team=None) | Q(owner__is_staff=True) | Q(owner__is_active=False)
        return self.public().exclude(kind=EntrantKind.BASELINE).filter(held)


class Entrant(models.Model):
    slug = models.SlugField(max_length=100, unique=True)
    name = models.CharField(max_length=150, unique=True)
    kind = models.CharField(max_length=10, choices=EntrantKind.choices, default=EntrantKind.MODEL)
    organisation = models.CharField(max_length=150, blank=True)
    description = models.TextField(blank=True)
    url = models.URLField(blank=True)
    open_weights = models.BooleanField(null=True, blank=True)
    is_verified = models.BooleanField(default=False)
    publishes_code = models.BooleanField(default=False, help_text="Whether strangers may read its solutions.")
    owner = models.ForeignKey("auth.User", null=True, blank=True, on_delete=models.PROTECT, related_name="entrants")
    team = models.ForeignKey(Team, null=True, blank=True, on_delete=models.PROTECT, related_name="entrants")
    created_at = models.DateTimeField(default=timezone.now)

    objects = EntrantQuerySet.as_manager()

    class Meta:
        ordering: ClassVar = ["name"]
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=Q(owner=None) | Q(team=None),
                name="entrant_of_one",
                violation_error_message="An entrant belongs to a user or to a team, not to both.",
            )
        ]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("entrant", args=[self.slug])

    @property
    def holder(self) -> str:
        """The owner's or team's name, for the audit; empty if nobody holds it."""
        return str(self.team or self.owner or "")

    def role_of(self, user: Any) -> TeamRole | None:
        """The rule of `_held_by` for this row: an owner's role, or the one in the team that holds it."""
        if not getattr(user, "is_authenticated", False):
            return None
        if self.team_id is None:
            return TeamRole.OWNER if self.owner_id == user.pk else None
        found = Membership.objects.filter(team_id=self.team_id, user_id=user.pk).values_list("role", flat=True).first()
        return TeamRole(found) if found else None

    def has_member(self, user: Any) -> bool:
        """Whether the user may read what is the team's, in any role."""
        return self.role_of(user) in READING

    def has_submitter(self, user: Any) -> bool:
        return self.role_of(user) in SUBMITTING

    def has_manager(self, user: Any) -> bool:
        return self.role_of(user) in MANAGING
