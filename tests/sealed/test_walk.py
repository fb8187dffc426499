"""Every surface, asked by everybody while questions are sealed: it says the same whether replies are right or wrong."""

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

import pytest
from django.db import transaction
from django.test import Client
from django.urls import reverse

from leaderboard.actions.accounts import notify
from leaderboard.actions.curation.decide import void_problem
from leaderboard.api import urls as api_urls
from leaderboard.charts import BOARD_CHARTS
from leaderboard.models import Delivery, Webhook
from leaderboard.notifications import words
from leaderboard.standings.rank import rank_touched
from runners.fleet.api import urls as fleet_api_urls
from runners.wire.protocol import Verdict
from tests import factories
from tests.fleet.web.test_page_strangers import TABLE as FLEET_PAGES
from tests.sealed.site import SealedPlace, reveal
from tests.web.site.test_strangers import TABLE as PAGES

pytestmark = [pytest.mark.django_db, pytest.mark.rest]

WITHOUT_RESULTS = {
    "snapshot", "readyz", "livez", "trial", "trial_machine_code", "trial_listing", "pmpp_runs", "personal_feed",
    "tokens",
}  # fmt: skip
"""Pages of the table that show no results of submissions, need a freeze, which is refused, or are asked for below."""
ASKING = {
    "problems": ["?solved=some", "?solved=none", "?solved=me", "?sort=-solved"],
    "board": ["?k=1", "?group=*", "?groups=ch2", "?groups=ch3", "?sort=questions", "?as_of={today}"],
    "board_csv": ["?group=*"], "board_json": ["?group=*"],
    "rollouts": ["?verdict=passed", "?verdict=wrong_answer", "?verdict=sealed", "?problem={problem}"],
    "compare": ["?release={release}&a=alpha&b=strangers-model&all=1"],
    "compare_chart": ["?release={release}&a=alpha&b=strangers-model"],
}  # fmt: skip
"""What else of a page is asked for."""
PASSING = re.compile(
    r'name="(csrfmiddlewaretoken|opened)" value="[^"]*"|nonce="[^"]*"|[0-9a-f]{32,64}|pdm[\w-]*…'
    r"|\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?|\d{8}T\d{12}|\d+(\.\d+)? (ms|s|min)\b"
)
"""What differs between any two visits."""


def _pages(place: SealedPlace) -> Iterator[tuple[str, str]]:
    table = {name: row[0] for name, row in PAGES.items() if row[1] == "get"}
    table |= {name: row[0] for name, row in FLEET_PAGES.items()}
    names = {
        "today": f"{place.stored.created_at:%Y-%m-%d}", "release": place.release.slug, "problem": place.problem.slug,
    }  # fmt: skip
    for name, arguments in table.items():
        if name not in WITHOUT_RESULTS:
            path = reverse(name, args=arguments(place))
            for asked in ["", *ASKING.get(name, [])]:
                yield name, path + asked.format(**names)
    for chart in BOARD_CHARTS:
        yield f"chart {chart}", reverse("chart", args=[place.release.slug, chart])
    for chart in ("results", "groups", "history"):
        query = f"?release={place.release.slug}&track={place.evaluation.track.slug}"
        yield f"entrant chart {chart}", reverse("entrant_chart", args=[place.cast.entrant.slug, chart]) + query


def _api(place: SealedPlace) -> Iterator[tuple[str, str]]:
    given = {"release": place.release.slug, "problem": place.problem.slug, "entrant": place.cast.entrant.slug}
    for route, _ in [*api_urls.ROUTES, *fleet_api_urls.ROUTES]:
        path = route
        for name in re.findall(r"<[^>]*>", route):
            after = route.split(name)[0].rstrip("/").rpartition("/")[2]
            known = {"releases": "release", "problems": "problem", "entrants": "entrant"}.get(after, "")
            pk = place.evaluation.pk if after == "evaluations" else place.stored.pk
            path = path.replace(name, given.get(known, str(pk)), 1)
        if not route.startswith("trials"):
            yield f"api {route}", f"/api/v1/{path}"
    compared = f"/api/v1/releases/{place.release.slug}/compare?entrant=alpha&entrant=strangers-model"
    yield "api compare of two", compared


def _texts(
    client: Client, surfaces: Iterator[tuple[str, str]], known: Collection[str], **more: Any
) -> Iterator[tuple[str, str]]:
    for name, path in surfaces:
        if f"{name} {path}" in known:
            continue
        answer = client.get(path, **more)
        body = b"".join(answer) if answer.streaming else answer.content
        if "zip" in answer["Content-Type"]:  # an archive of what was sent
            body = b""
        yield f"{name} {path}", f"{answer.status_code} {PASSING.sub('', body.decode('utf-8', 'replace'))}"


def walk(place: SealedPlace, who: str) -> Mapping[str, str]:
    """What everybody of this name is told, by surface: on pages, by the API, in messages and feeds."""
    person = {"owner": place.cast.owner, "team": place.cast.teammate, "rival": place.cast.stranger}
    person["organiser"] = place.cast.organiser
    client, found = Client(), {}
    if who in person:
        client.force_login(person[who])
        found["feed"] = client.get(reverse("personal_feed", args=[notify.new_feed(person[who])])).content.decode()
    token = {"headers": {"Authorization": f"Bearer {factories.token(person[who])}"}} if who in person else {}
    for kind in ("choice", "command"):
        place.turn_to(kind)
        found |= dict(_texts(client, _pages(place), found))
        found |= dict(_texts(Client(), _api(place), found, **token))
    hook = Webhook(user=place.cast.owner, url="https://example.org/hook")
    facts = words.payload(Delivery(webhook=hook, submission=place.stored))
    found["webhook"] = str(facts["submission"]["verdicts"])
    found["mail"] = words.mail_text(place.stored)
    return {name: PASSING.sub("", text) for name, text in found.items()}


TOLD = ("owner", "team", "rival", "stranger")


def _world(monkeypatch: Any, verdict: Verdict) -> dict[tuple[str, str], Mapping[str, str]]:
    """What each is told by and by where all replies have this verdict. The site is made anew each time."""
    with transaction.atomic():
        place = SealedPlace.settled(monkeypatch, verdict)
        found = {("sealed", who): walk(place, who) for who in (*TOLD, "organiser")}
        question = place.release.problems.get(task_id="ask/1")
        void_problem(place.cast.organiser, question, "Two of its answers are right.")
        rank_touched()
        found |= {("voided", who): walk(place, who) for who in ("owner", "rival")}
        reveal(place.release)
        rank_touched()
        found |= {("revealed", who): walk(place, who) for who in ("owner", "stranger")}
        transaction.set_rollback(True)
    return found


def test_nothing_tells_whether_replies_to_sealed_questions_are_right(monkeypatch: Any) -> None:
    right, wrong = (_world(monkeypatch, verdict) for verdict in (Verdict.PASSED, Verdict.WRONG_ANSWER))
    assert all(right[of].keys() == wrong[of].keys() for of in right)
    differing = {of: [name for name in right[of] if right[of][name] != wrong[of][name]] for of in right}
    kept = {of: names for of, names in differing.items() if of[0] != "revealed" and of[1] != "organiser"}
    assert kept == {of: [] for of in kept}
    of_questions = {name.split(" ")[0] for name in differing["sealed", "organiser"]}
    assert of_questions >= {"evaluation", "submission", "rollouts"}  # the walk sees verdicts where they are told
    for who in ("owner", "stranger"):
        assert {name.split(" ")[0] for name in differing["revealed", who]} >= TOLD_AT_LAST, who


TOLD_AT_LAST = {"board", "board_csv", "chart", "evaluation", "submission", "problems", "rollouts", "compare", "entrant"}
