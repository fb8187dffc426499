"""The panel of a fresh site: what it lacks before the first submission, each with the command or page that makes it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from django.urls import reverse

from leaderboard.models import ReleaseTrack
from problems.models import Release, ReleaseState


@dataclass(frozen=True)
class FirstStep:
    """`state` says what is there. `command` is for a shell on the site's machine, `url` the page that does the same."""

    title: str
    is_done: bool
    state: str
    command: str = ""
    url: str = ""
    link: str = ""


_BEFORE: list[Callable[[], FirstStep]] = []


def register(make: Callable[[], FirstStep]) -> None:
    """The step stands before that of the release, in the order of registration."""
    _BEFORE.append(make)


def steps() -> Sequence[FirstStep]:
    """All steps; none once everything is done. A fixed number of queries, one once a release is published."""
    if Release.objects.exclude(state=ReleaseState.DRAFT).exists():
        return ()
    return [make() for make in (*_BEFORE, _release)]


def _release() -> FirstStep:
    draft = Release.objects.order_by("-created_at").first()
    if draft is None:
        return FirstStep(
            "Release", False, "none: import problems, or write them here",
            ".venv/bin/python manage.py import_release problems.tar.gz",
            reverse("admin:problems_release_import"), "Import a pack",
        )  # fmt: skip
    offered = ReleaseTrack.objects.filter(release=draft).exists()
    state = f"{draft.slug} is a draft" + ("" if offered else ", offered on no track")
    return FirstStep(
        "Release", False, f"{state}: verify and publish it", f".venv/bin/python manage.py publish_release {draft.slug}",
        reverse("admin:problems_release_change", args=[draft.pk]), "Its checklist",
    )  # fmt: skip
