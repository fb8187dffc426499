"""The frame of one release's pages: its tabs, and the banner that says what state it is in."""

from typing import Any

from django.http import HttpRequest
from django.urls import reverse

from leaderboard.web.shared.shareable import absolute
from problems.models import Release, ReleaseState

TABS = (
    ("board", "Board"),
    ("charts", "Charts"),
    ("problems", "Problems"),
    ("release_submissions", "Submissions"),
    ("release_about", "About"),
)


MOST_DESCRIPTION = 200

_PRIVATE = "Private: only invited people and organisers see this release."
_PRIVATE_CONTENT = "Results are public; statements and files of the problems are private."


def release_context(request: HttpRequest, release: Release, tab: str) -> dict[str, Any]:
    """One query: the newer revision that older pages link to."""
    newer = Release.objects.visible_to(request.user).filter(previous=release).order_by("-revision").first()
    return {
        "release": release, "tabs": TABS, "tab": tab, "banners": banners(release), "newer": newer,
        "unverified": unverified(release), "social": social_of(release),
    }  # fmt: skip


def social_of(release: Release) -> dict[str, str]:
    """Other sites' preview of a link to the release; empty unless strangers may see its board."""
    if release.is_draft or not (release.is_public or release.results_are_public):
        return {}
    described = " ".join(release.description.replace("`", "").split())
    words = described or f"A leaderboard of GPU code, ranked by {release.primary_metric}."
    return {
        "description": words if len(words) <= MOST_DESCRIPTION else f"{words[: MOST_DESCRIPTION - 1]}…",
        "url": absolute(release.get_absolute_url()),
        "image": absolute(reverse("card", args=[release.slug])),
    }


def unverified(release: Release) -> str:
    """The sentence on a release that was published without verification, else empty."""
    reason = release.unverified_reason
    return f"Published without verification on this site: {reason.rstrip('.')}." if reason else ""


def banners(release: Release) -> list[str]:
    lines = []
    if release.state == ReleaseState.DRAFT:
        lines.append("Draft: only organisers see this release, and it may still change.")
    elif reason := release.why_closed():
        lines.append(reason)
    if release.results_are_hidden and release.hidden_until:
        until = f"{release.hidden_until:%Y-%m-%d %H:%M} UTC"
        lines.append(f"Results are hidden until {until}. Until then a team sees its own, organisers all, others none.")
    if release.questions_are_sealed and release.reveals_at:
        until = f"{release.reveals_at:%Y-%m-%d %H:%M} UTC"
        lines.append(
            f"Its questions are sealed: what rests on them is shown from {until} on, and until then the board counts"
            " code alone. The first reply in a submission that asks to count is the one that counts."
        )
    if release.correction:
        lines.append(f"Its ranking was corrected after publication. {release.correction}")
    if not release.is_public:
        lines.append(_PRIVATE_CONTENT if release.results_are_public else _PRIVATE)
    return lines
