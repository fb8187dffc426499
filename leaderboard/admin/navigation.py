"""The admin's navigation: by an organiser's task, not by table."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.apps import apps
from django.contrib.admin import AdminSite
from django.http import HttpRequest
from django.urls import reverse

TASKS: Sequence[tuple[str, Sequence[tuple[str, str]]]] = (
    (
        "Decide",
        (
            ("Flags", "leaderboard.flag"),
            ("Clarifications", "leaderboard.clarification"),
            ("Decisions", "leaderboard.decision"),
        ),
    ),
    ("Releases", (("Releases", "problems.release"), ("Problems", "problems.problem"))),
    (
        "Submissions",
        (
            ("Submissions", "leaderboard.submission"),
            ("Evaluations", "leaderboard.evaluation"),
            ("Rejudges", "leaderboard.rejudge"),
        ),
    ),
    (
        "People",
        (
            ("Entrants", "leaderboard.entrant"),
            ("Claims and verification", "leaderboard.entrantrequest"),
            ("Teams", "leaderboard.team"),
            ("Names that look alike", "leaderboard.nameskeleton"),
            ("Users", "auth.user"),
            ("Invitations", "leaderboard.invitation"),
            ("API tokens", "leaderboard.apitoken"),
        ),
    ),
    (
        "Tracks and nodes",
        (
            ("Tracks", "leaderboard.track"),
            ("Nodes", "fleet.node"),
            ("Jobs", "fleet.job"),
            ("Attempts", "fleet.attempt"),
        ),
    ),
    (
        "Records",
        (
            ("Audit", "leaderboard.auditentry"),
            ("Results", "leaderboard.result"),
            ("Measurements", "leaderboard.measurement"),
            ("Standings", "leaderboard.standing"),
        ),
    ),
)
"""Each task with its tables: what the page calls them, and `<app>.<model>`."""


@dataclass(frozen=True)
class NavigationEntry:
    title: str
    url: str
    is_current: bool


@dataclass(frozen=True)
class Task:
    """One task: its link leads to the first of its entries."""

    title: str
    entries: Sequence[NavigationEntry]

    @property
    def url(self) -> str:
        return self.entries[0].url

    @property
    def is_current(self) -> bool:
        return any(entry.is_current for entry in self.entries)


def tasks(site: AdminSite, request: HttpRequest) -> list[Task]:
    """The tasks of which the user may see a table. The tables of the others are left out."""
    shown = [Task(title, _entries(site, request, tables)) for title, tables in TASKS]
    return [task for task in shown if task.entries]


def _entries(site: AdminSite, request: HttpRequest, tables: Sequence[tuple[str, str]]) -> list[NavigationEntry]:
    found = [(title, name, _list_url(site, request, name)) for title, name in tables]
    return [NavigationEntry(title, url, request.path.startswith(url)) for title, _, url in found if url]


def _list_url(site: AdminSite, request: HttpRequest, name: str) -> str:
    """The address of the table's list; empty if the user may not see it."""
    model = apps.get_model(name)
    if not site.is_registered(model) or not site.get_model_admin(model).has_view_permission(request):
        return ""
    return reverse(f"admin:{name.replace('.', '_')}_changelist")


def other_tables(site: AdminSite, request: HttpRequest) -> list[NavigationEntry]:
    """The registered tables that no task names, by title."""
    known = {name for _, tables in TASKS for _, name in tables}
    names = {model._meta.label_lower: str(model._meta.verbose_name_plural) for model in site._registry}
    rest = sorted((title, name) for name, title in names.items() if name not in known)
    return _entries(site, request, [(f"{title[:1].upper()}{title[1:]}", name) for title, name in rest])
