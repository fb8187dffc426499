"""Entrants: models, agents, people, baselines, and the hidden system entrants that verify problems."""

from typing import Any, ClassVar

from django.db import models
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone


class EntrantKind(models.TextChoices):
    MODEL = "model", "Model"
    AGENT = "agent", "Agent"
    PERSON = "person", "Person"
    BASELINE = "baseline", "Baseline"
    SYSTEM = "system", "System"


class EntrantQuerySet(models.QuerySet["Entrant"]):
    def public(self) -> "EntrantQuerySet":
        return self.exclude(kind=EntrantKind.SYSTEM)

    def submittable_by(self, user: Any) -> "EntrantQuerySet":
        """Entrants for which the user may submit: own ones, those of a team, and for organisers baselines."""
        if not user.is_authenticated:
            return self.none()
        mine = Q(owner=user) | Q(pk__in=Entrant.team.through.objects.filter(user_id=user.pk).values("entrant_id"))
        if user.is_staff:
            mine |= Q(kind=EntrantKind.BASELINE)
        return self.public().filter(mine)


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
    team = models.ManyToManyField("auth.User", blank=True, related_name="team_entrants")
    created_at = models.DateTimeField(default=timezone.now)

    objects = EntrantQuerySet.as_manager()

    class Meta:
        ordering: ClassVar = ["name"]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("entrant", args=[self.slug])

    def has_member(self, user: Any) -> bool:
        if not getattr(user, "is_authenticated", False):
            return False
        return self.owner_id == user.pk or self.team.filter(pk=user.pk).exists()
