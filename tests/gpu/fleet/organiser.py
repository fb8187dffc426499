"""The organiser's work on the site's own pages: signing in, a node, its track, a release."""

import re
import secrets
from dataclasses import dataclass

from tests.gpu.fleet.machine import Machine
from tests.gpu.fleet.packs import Packs
from tests.gpu.fleet.pages import Browser, found_in, report_of, words_of
from tests.gpu.fleet.report import Failed, Report

NODE = "gpu-1"
VERIFY_SECONDS = 150
VERIFIED = "Verified: all is as it should be."


@dataclass(frozen=True)
class Draft:
    """A release: its slug, and its number in the admin."""

    slug: str
    pk: int


def sign_in(machine: Machine) -> Browser:
    """The one-time link sets the password; then the sign-in page."""
    link = found_in(r"(http://\S+)", machine.manage("first_admin", "ada@example.org"), "one-time link")
    password = secrets.token_urlsafe(24)
    Browser(machine.url).fill(link, {"password1": password, "password2": password})
    admin = Browser(machine.url)
    admin.fill("/accounts/login/?next=/admin/", {"login": "ada", "password": password})
    if "Sign out" not in admin.get("/admin/").text:
        raise Failed("the organiser is not signed in")
    return admin


def enrol(admin: Browser) -> str:
    """The node's token."""
    answer = admin.fill("/admin/fleet/node/act/add/", {"slug": NODE, "title": "A node of this machine"})
    return found_in(r"PODIUM_NODE_TOKEN=(\S+)", report_of(answer), "token")


def import_draft(admin: Browser, packs: Packs, report: Report) -> Draft:
    with packs.problems.open("rb") as pack:
        file = (packs.problems.name, pack, "application/gzip")
        lines = report_of(admin.fill("/admin/problems/release/act/import/", files={"pack": file}))
    report.say(lines.splitlines()[-1])
    slug = found_in(r"Release (\S+) is a", lines, "release")
    releases = admin.get("/admin/problems/release/").text
    pattern = rf'href="/admin/problems/release/(\d+)/change/[^"]*"[^>]*>{re.escape(slug)}<'
    return Draft(slug, int(found_in(pattern, releases, "link to the release")))


def make_track(admin: Browser, report: Report) -> str:
    """Makes a track of the node's hardware, by the link on the node's own page; returns the track's slug."""
    page = admin.get(f"/nodes/{NODE}/").text
    lines = report_of(admin.fill(found_in(r'href="(/admin/fleet/node/\d+/act/tracks/)"', page, "link to make tracks")))
    for line in lines.splitlines():
        report.say(line)
    return found_in(r"serves (\S+):", lines, "track")


def publish(admin: Browser, draft: Draft, report: Report) -> None:
    """Offer the release on every track, make it public, publish it."""
    page = f"/admin/problems/release/{draft.pk}"
    offered = report_of(admin.fill(f"{page}/act/offer/", every=["tracks"]))
    answer = admin.fill(f"{page}/change/", {"is_public": "on"})
    if "was changed successfully" not in answer.text:
        raise Failed(f"the release was not made public: {words_of(answer.text)[:600]}")
    published = report_of(admin.fill(f"{page}/act/publish/", {"unverified_reason": "verified later in this run"}))
    for line in [*offered.splitlines(), *published.splitlines()]:
        report.say(line)


def verify(admin: Browser, draft: Draft, machine: Machine) -> None:
    """References, empty and known-bad solutions, of a release that is out already."""

    def verdict() -> str | None:
        lines = report_of(admin.fill(f"/admin/problems/release/{draft.pk}/act/verify/"))
        return None if " to come. Run this again" in lines else lines

    lines = machine.wait(verdict, "the release is verified", VERIFY_SECONDS, every_seconds=2)
    for line in lines.splitlines():
        machine.report.say(f"  {line}")
    machine.report.check(VERIFIED in lines, "the release is not verified")
