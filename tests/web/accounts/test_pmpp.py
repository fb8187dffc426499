"""The pages of PMPP addresses: made once, revoked by the team, and a run without a verdict is "not graded"."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import DatabaseError, connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from leaderboard.actions.intake.pmpp_runs import end_run
from leaderboard.models import AuditEntry, PmppRun, PmppToken
from runners.wire.protocol import Verdict
from tests import factories
from tests.factories import Cast
from tests.markup import markup


@pytest.fixture
def place(cast: Cast) -> Any:
    made = factories.release()
    factories.offer(made)
    return made.on_tracks.get()


def fields(cast: Cast, place: Any) -> dict[str, Any]:
    return {"name": "nightly evaluation", "entrant": cast.entrant.pk, "place": place.pk, "daily_runs": 50, "days": 30}


def make(client: Any, cast: Cast, place: Any, changes: dict[str, Any] | None = None) -> Any:
    client.force_login(cast.owner)
    return client.post(reverse("new_pmpp_token"), fields(cast, place) | (changes or {}))


def test_an_address_is_shown_once(client: Any, cast: Cast, place: Any, settings: Any) -> None:
    settings.PMPP_URL = "https://podium.example"
    answer = make(client, cast, place)
    assert answer.status_code == 201
    assert "no-store" in answer["Cache-Control"]
    address = answer.context["address"]
    assert address.startswith("https://podium.example/compat/pmpp/pmpp_")
    secret = address.rpartition("/")[2]
    token = PmppToken.find(secret)
    assert token is not None
    assert (token.user, token.entrant, token.release, token.daily_runs) == (cast.owner, cast.entrant, place.release, 50)
    assert secret not in markup(client.get(reverse("pmpp_tokens")))
    assert AuditEntry.objects.filter(action="issue_pmpp_token").count() == 1


@pytest.mark.parametrize(
    "changes",
    [{"name": ""}, {"entrant": "others"}, {"place": 0}, {"daily_runs": 0}, {"daily_runs": 10**9}, {"days": 99999}],
)
def test_what_is_not_offered_is_refused(changes: dict[str, Any], client: Any, cast: Cast, place: Any) -> None:
    if changes.get("entrant") == "others":
        changes = {"entrant": cast.strangers_entrant.pk}
    assert make(client, cast, place, changes).status_code == 422
    assert not PmppToken.objects.exists()


def test_a_closed_release_gives_no_address(client: Any, cast: Cast, place: Any) -> None:
    type(place.release).objects.update(closes_at=timezone.now())
    answer = make(client, cast, place)
    assert answer.status_code == 422
    assert "closed" in markup(answer)


def test_a_teammate_or_an_organiser_may_revoke_it_and_a_stranger_does_not_see_it(
    client: Any, cast: Cast, place: Any
) -> None:
    make(client, cast, place)
    token = PmppToken.objects.get()
    revoke = reverse("revoke_pmpp_token", args=[token.pk])
    for user, status in ((cast.stranger, 404), (cast.teammate, 302), (cast.organiser, 302)):
        client.force_login(user)
        assert client.post(revoke).status_code == status
    token.refresh_from_db()
    assert token.revoked_at is not None
    assert AuditEntry.objects.filter(action="revoke_pmpp_token").get().actor == cast.teammate
    stranger = Client()
    stranger.force_login(cast.stranger)
    assert "nightly evaluation" not in markup(stranger.get(reverse("pmpp_tokens")))


@pytest.fixture
def runs(client: Any, cast: Cast, place: Any) -> Iterator[list[PmppRun]]:
    make(client, cast, place)
    facts = {"token": PmppToken.objects.get(), "problem": place.release.problems.first(), "solution_bytes": 1}
    yield [PmppRun.objects.create(**facts, solution_sha256=f"{n:064d}", n_calls=1) for n in range(3)]


def listed(client: Any) -> str:
    text: str = markup(client.get(reverse("pmpp_runs", args=[PmppToken.objects.get().pk])))
    return text


def test_a_run_without_a_verdict_is_not_graded(client: Any, runs: list[PmppRun]) -> None:
    end_run(runs[0], factories.report())
    end_run(runs[1], factories.report(Verdict.PLATFORM_ERROR))
    text = listed(client)
    assert text.count('<span class="badge warn">not graded</span>') == 2
    assert "not graded</span> queued" in text
    assert text.lower().count("passed") >= 1


def test_a_references_reason_is_for_organisers(client: Any, cast: Cast, runs: list[PmppRun]) -> None:
    PmppRun.objects.filter(pk=runs[0].pk).update(is_reference=True)
    end_run(runs[0], factories.report(Verdict.TEST_FAILED))
    assert "first failure words" not in listed(client)
    client.force_login(cast.organiser)
    assert "first failure words" in listed(client)


def test_its_queries_do_not_grow_with_its_rows(client: Any, runs: list[PmppRun]) -> None:
    with CaptureQueriesContext(connection) as three:
        listed(client)
    PmppRun.objects.filter(pk=runs[0].pk).delete()
    with CaptureQueriesContext(connection) as two:
        listed(client)
    assert len(three) == len(two)


def test_a_run_that_has_ended_keeps_its_outcome(runs: list[PmppRun]) -> None:
    end_run(runs[0], factories.report())
    end_run(runs[0], factories.report(Verdict.TEST_FAILED))
    runs[0].refresh_from_db()
    assert runs[0].outcome["verdict"] == "passed"
    with pytest.raises(DatabaseError), transaction.atomic():
        PmppRun.objects.filter(pk=runs[0].pk).update(state="queued")
