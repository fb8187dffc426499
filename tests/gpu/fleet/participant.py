"""A participant: signs up on the site, submits and reads results by `podium`, watches by the API."""

import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from demo.client import Client
from tests.gpu.fleet.machine import Machine
from tests.gpu.fleet.organiser import Draft
from tests.gpu.fleet.packs import EntrantPack, Packs
from tests.gpu.fleet.pages import Browser, found_in

Row = dict[str, Any]


@dataclass(frozen=True)
class Participant:
    """`slugs` maps an example's entrants to those of the site."""

    machine: Machine
    api: Client
    slugs: Mapping[str, str]

    def submit(self, name: str, pack: EntrantPack, draft: Draft, track: str) -> int:
        where = ["--release", draft.slug, "--entrant", self.slugs[name], "--track", track]
        out, told = self.machine.podium("submit", str(pack.path), *where)
        self.machine.report.say(told.strip().splitlines()[-1])
        return int(out.strip())

    def results(self, submission: int) -> list[Row]:
        return [json.loads(line) for line in self.machine.podium("results", str(submission), "--json")[0].splitlines()]

    def wait_until_graded(self, submissions: Sequence[int], seconds: float) -> None:
        """With a line whenever the counts change. Raises Stuck."""
        last: dict[int, str] = {}

        def are_done() -> bool | None:
            for one in submissions:
                now = self.api.progress(one)
                line = f"#{one}: {now['done']} of {now['total']}, {now['verdicts']}, now {now['stages']}"
                if last.get(one) != line:
                    last[one] = line
                    self.machine.report.say(line)
                if now["state"] != "done":
                    return None
            return True

        self.machine.wait(are_done, f"submissions {list(submissions)} are graded", seconds)


def sign_up(machine: Machine, packs: Packs) -> Participant:
    """An account, an entrant for each pack, a token; then `podium login`."""
    browser, password = Browser(machine.url), secrets.token_urlsafe(24)
    account = {"username": "pat", "email": "pat@example.org", "password1": password, "password2": password}
    browser.fill("/accounts/signup/", account)
    slugs = {name: _add_entrant(browser, pack) for name, pack in packs.entrants.items()}
    answer = browser.fill("/account/tokens/", {"name": "fleet", "scopes": ["read", "submit"], "days": "30"})
    token = found_in(r'id="secret">([^<]+)<', answer.text, "token")
    machine.report.say(machine.podium("login", machine.url, PODIUM_TOKEN=token)[1].strip().splitlines()[-1])
    return Participant(machine, Client(machine.url, token), slugs)


def _add_entrant(browser: Browser, pack: EntrantPack) -> str:
    """The slug that the site gave it."""
    fields: dict[str, str | list[str]] = {
        "name": pack.facts.title,
        "kind": pack.facts.kind,
        "organisation": pack.facts.organisation,
        "description": pack.facts.description,
        "publishes_code": "on",
    }
    return browser.fill("/account/entrants/new/", fields).url.rstrip("/").rpartition("/")[2]
