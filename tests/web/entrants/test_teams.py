"""Teams: roles and what they allow, invitations that are used once, owners that stay, entrants that change hands."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.core import mail
from django.urls import reverse
from django.utils import timezone

from leaderboard import visibility
from leaderboard.actions.entrants import entrant_requests, teams, transfers
from leaderboard.actions.intake.pmpp_runs import NewToken, issue_token
from leaderboard.actions.submissions.cancel import cancel
from leaderboard.errors import Conflict, NotAllowed, Refused, TooMuch
from leaderboard.models import AuditEntry, Entrant, EntrantRequest, Membership, Team, TeamInvitation, Transfer
from leaderboard.models.audit import target_of
from leaderboard.models.entrants.team import TeamRole
from tests import factories
from tests.admin.pages import opened
from tests.api import calls
from tests.factories import Cast
from tests.markup import markup

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


@pytest.fixture
def team(cast: Cast) -> Team:
    assert cast.entrant.team
    return cast.entrant.team


def member(cast: Cast, name: str = "teammate") -> Membership:
    return Membership.objects.select_related("team", "user").get(user__username=name)


def invited(user: Any, team: Team, role: str = "member") -> str:
    return teams.invite_to_team(user, team, role, join_url="https://podium.example/account/join-team/")[1]


def test_an_invitation_brings_one_signed_in_user_into_the_team(client: Any, cast: Cast, team: Team) -> None:
    client.force_login(cast.owner)
    page = client.post(reverse("invite_to_team", args=[team.slug]), {"role": "reader"})
    assert page.status_code == 201
    secret = page.context["secret"]
    assert f"#{secret}" in markup(page), "the link carries it in the fragment, which no server logs"
    assert secret not in markup(client.get(reverse("team", args=[team.slug])))
    assert secret not in str(TeamInvitation.objects.values()) + str(AuditEntry.objects.values())
    client.force_login(cast.stranger)
    answer = client.post(reverse("join_team"), {"invitation": f" {secret} "})
    assert answer.url == reverse("team", args=[team.slug])
    assert member(cast, "stranger").role == TeamRole.READER
    client.force_login(factories.UserFactory(username="late"))
    assert "was used" in markup(client.post(reverse("join_team"), {"invitation": secret}))


@pytest.mark.parametrize("secret", ["pdt_nothing", "x" * 100, "\0", "' OR 1=1"])
def test_nobody_joins_by_guessing(secret: str, client: Any, cast: Cast) -> None:
    client.force_login(cast.stranger)
    assert client.post(reverse("join_team"), {"invitation": secret}).status_code == 422
    assert not Membership.objects.filter(user=cast.stranger).exists()


def test_an_invitation_ends_with_its_time_its_withdrawal_or_its_makers_rank(cast: Cast, team: Team) -> None:
    expired, withdrawn, orphaned = (invited(cast.owner, team) for _ in range(3))
    past = timezone.now() - timedelta(seconds=1)
    TeamInvitation.objects.filter(pk=TeamInvitation.find(expired).pk).update(expires_at=past)
    assert teams.withdraw_invitation(cast.owner, TeamInvitation.find(withdrawn))
    teams.set_role(cast.owner, member(cast), TeamRole.OWNER)
    teams.set_role(cast.teammate, member(cast, "owner"), TeamRole.MEMBER)
    for secret in (expired, withdrawn, orphaned):
        with pytest.raises(Refused):
            teams.join(cast.stranger, secret)
    assert not Membership.objects.filter(user=cast.stranger).exists()


def test_a_mailed_invitation_has_its_secret_in_no_address(client: Any, cast: Cast, team: Team, settings: Any) -> None:
    settings.MAIL = {"backend": "django.core.mail.backends.locmem.EmailBackend"}
    client.force_login(cast.owner)
    assert "Mail it to" not in markup(client.get(reverse("team", args=[team.slug]))), "no mail server is set"
    settings.MAIL_URL = "smtp://mail.example.org"
    fields = {"role": "member", "email": "new@example.org"}
    assert client.post(reverse("invite_to_team", args=[team.slug]), fields).status_code == 302
    (message,) = mail.outbox
    secret = re.search(r"pdt_\S+", message.body)
    assert secret
    assert not re.search(r"http\S*pdt_", message.body)
    assert teams.join(cast.stranger, secret[0]) == team


def test_a_mail_that_cannot_be_sent_leaves_no_invitation(client: Any, cast: Cast, team: Team, settings: Any) -> None:
    settings.MAIL_URL = "smtp://127.0.0.1:9"
    settings.MAIL = {"backend": "django.core.mail.backends.smtp.EmailBackend", "host": "127.0.0.1", "port": 9}
    client.force_login(cast.owner)
    answer = client.post(reverse("invite_to_team", args=[team.slug]), {"role": "member", "email": "a@example.org"})
    assert "could not be sent" in markup(answer)
    assert not TeamInvitation.usable().exists()


def test_only_owners_rule_over_the_team(client: Any, cast: Cast, team: Team) -> None:
    client.force_login(cast.teammate)
    pk = member(cast, "owner").pk
    client.post(reverse("remove_member", args=[team.slug, pk]))
    client.post(reverse("change_role", args=[team.slug, member(cast).pk]), {"role": "owner", "was": "member"})
    client.post(reverse("invite_to_team", args=[team.slug]), {"role": "owner"})
    client.post(reverse("dissolve_team", args=[team.slug]))
    assert {one.user.username: one.role for one in team.memberships.all()} == {"owner": "owner", "teammate": "member"}
    assert not TeamInvitation.objects.exists()
    assert client.get(reverse("edit_entrant", args=["alpha"])).status_code == 404


def test_the_last_owner_stays(client: Any, cast: Cast, team: Team) -> None:
    mine = member(cast, "owner")
    with pytest.raises(Refused, match="would have no owner"):
        teams.remove_member(cast.owner, mine)
    with pytest.raises(Refused, match="would have no owner"):
        teams.set_role(cast.owner, mine, TeamRole.READER)
    teams.set_role(cast.owner, member(cast), TeamRole.OWNER)
    teams.remove_member(cast.owner, mine)
    assert not cast.entrant.has_member(cast.owner)
    said = AuditEntry.objects.filter(target=f"team {team}").values_list("action", flat=True)
    assert list(said) == ["leave_team", "set_role"]


def test_a_reader_sees_what_the_team_sees_and_changes_nothing(cast: Cast, team: Team) -> None:
    made = factories.release()
    track = factories.offer(made)
    stored = factories.submission(cast.entrant, made, track)
    teams.set_role(cast.owner, member(cast), TeamRole.READER)
    cast.entrant.refresh_from_db()
    view = visibility.view_of(cast.teammate, stored)
    assert (view.solution, view.build_log, view.may_change) == (True, True, False)
    with pytest.raises(NotAllowed):
        cancel(cast.teammate, stored)
    assert calls.upload(cast.teammate, made, track).status_code == 403
    assert calls.post(f"submissions/{stored.pk}/cancel", {}, cast.teammate).status_code == 403
    wanted = NewToken(cast.entrant, made, track, "run", 1, timezone.now() + timedelta(days=1))
    with pytest.raises(NotAllowed):
        issue_token(cast.teammate, wanted)
    assert calls.get("entrants", cast.teammate, mine=1).json()["results"] == []


def test_who_leaves_loses_everything_at_once(cast: Cast, team: Team) -> None:
    made = factories.release(hidden_until=timezone.now() + timedelta(days=9))
    track = factories.offer(made)
    stored = factories.judged_submission(cast.entrant, made, track)
    assert visibility.visible_standings(cast.teammate, made).exists()
    teams.remove_member(cast.owner, member(cast))
    assert not visibility.view_of(cast.teammate, stored).is_visible
    assert not visibility.visible_standings(cast.teammate, made).exists()
    assert calls.upload(cast.teammate, made, track).status_code == 403


def test_an_entrant_is_made_for_a_team_by_its_owners(client: Any, cast: Cast, team: Team) -> None:
    for user, status in ((cast.teammate, 422), (cast.owner, 302)):
        client.force_login(user)
        fields = {"name": "Beta", "kind": "model", "open_weights": "unknown", "team": team.pk}
        answer = client.post(reverse("new_entrant"), fields)
        if user == cast.teammate:  # its form has no such field: the entrant is the user's own
            assert Entrant.objects.get(slug="beta").owner == user
            Entrant.objects.filter(slug="beta").delete()
            continue
        assert (answer.status_code, Entrant.objects.get(slug="beta").team) == (status, team)


class TestTransfers:
    def test_an_entrant_is_offered_and_accepted(self, client: Any, cast: Cast) -> None:
        client.force_login(cast.owner)
        offer = reverse("offer_entrant", args=["alpha"])
        assert "There is no user" in markup(client.post(offer, {"to_kind": "user", "to_name": "none"}))
        assert client.post(offer, {"to_kind": "user", "to_name": "stranger"}).status_code == 302
        assert "offered to somebody" in markup(client.post(offer, {"to_kind": "user", "to_name": "teammate"}))
        client.force_login(cast.stranger)
        assert "owner offers" in markup(client.get(reverse("account")))
        client.post(reverse("answer_offer", args=[Transfer.objects.get().pk]), {"answer": "accept"})
        cast.entrant.refresh_from_db()
        assert (cast.entrant.owner, cast.entrant.team, cast.entrant.is_verified) == (cast.stranger, None, False)
        assert not cast.entrant.has_member(cast.teammate)
        entry = AuditEntry.objects.get(action="accept_transfer")
        assert entry.detail == {"was": "Alpha's team", "now": "stranger", "now_kind": "user"}

    def test_one_declined_or_withdrawn_changes_nothing(self, cast: Cast) -> None:
        declined = transfers.offer(cast.owner, cast.entrant, cast.stranger)
        with pytest.raises(NotAllowed):
            transfers.accept(cast.teammate, declined)
        transfers.decline(cast.stranger, declined)
        withdrawn = transfers.offer(cast.owner, cast.entrant, cast.stranger)
        transfers.withdraw(cast.owner, withdrawn)
        for one in (declined, withdrawn):
            with pytest.raises(NotAllowed):
                transfers.accept(cast.stranger, one)
        assert Entrant.objects.get(pk=cast.entrant.pk).team

    def test_an_offer_lapses_with_the_rank_of_its_maker(self, cast: Cast, team: Team) -> None:
        made = transfers.offer(cast.owner, cast.entrant, cast.stranger)
        teams.set_role(cast.owner, member(cast), TeamRole.OWNER)
        teams.set_role(cast.teammate, member(cast, "owner"), TeamRole.MEMBER)
        with pytest.raises(Conflict, match="lapsed"):
            transfers.accept(cast.stranger, made)

    def test_a_team_of_ones_own_has_it_at_once(self, cast: Cast, team: Team) -> None:
        mine = factories.EntrantFactory(owner=cast.owner)
        transfers.offer(cast.owner, mine, team)
        assert Entrant.objects.get(pk=mine.pk).team == team

    def test_a_teams_owner_accepts_for_it(self, cast: Cast, team: Team) -> None:
        made = transfers.offer(cast.stranger, cast.strangers_entrant, team)
        with pytest.raises(NotAllowed):
            transfers.accept(cast.teammate, made)
        transfers.accept(cast.owner, made)
        assert cast.strangers_entrant.pk in team.entrants.values_list("pk", flat=True)


class TestRequests:
    def test_a_claim_is_asked_and_granted_in_the_administration(self, client: Any, cast: Cast) -> None:
        imported = factories.EntrantFactory(name="Imported", slug="imported", owner=cast.organiser)
        client.force_login(cast.stranger)
        assert "Claim" in markup(client.get(imported.get_absolute_url()))
        path = reverse("claim_entrant", args=["imported"])
        assert client.post(path, {"reason": "It is our model; see our page."}).status_code == 302
        assert "asked this already" in markup(client.post(path, {"reason": "Again."}))
        asked = EntrantRequest.objects.get()
        client.force_login(cast.organiser)
        assert "Claim of Imported" in markup(client.get(reverse("admin:index")))
        grant = reverse("admin:leaderboard_entrantrequest_act", args=[asked.pk, "grant"])
        assert "Granted" in markup(client.post(grant, {"ruling": "Your page says so."}))
        imported.refresh_from_db()
        assert imported.owner == cast.stranger
        entry = AuditEntry.objects.get(action="grant_claim")
        assert (entry.actor, entry.detail["now"]) == (cast.organiser, "stranger")
        client.force_login(cast.stranger)
        assert "Your page says so." in markup(client.get(reverse("account")))

    def test_somebodys_entrant_cannot_be_claimed(self, client: Any, cast: Cast) -> None:
        client.force_login(cast.stranger)
        path = reverse("claim_entrant", args=["alpha"])
        assert "cannot be claimed" in markup(client.get(path))
        assert client.post(path, {"reason": "Mine."}).status_code == 422
        assert not EntrantRequest.objects.exists()

    def test_a_verification_is_refused_and_then_granted(self, client: Any, cast: Cast) -> None:
        client.force_login(cast.stranger)
        path = reverse("ask_verification", args=["strangers-model"])
        client.post(path, {"reason": "See our page."})
        entrant_requests.rule(cast.organiser, EntrantRequest.objects.get(), granted=False, words="It names nobody.")
        page = markup(client.get(reverse("edit_entrant", args=["strangers-model"])))
        assert "It names nobody." in page
        client.post(path, {"reason": "It does now."})
        asked = EntrantRequest.objects.get(state="open")
        with pytest.raises(NotAllowed):
            entrant_requests.rule(cast.stranger, asked, granted=True, words="")
        entrant_requests.rule(cast.organiser, asked, granted=True, words="Seen.")
        cast.strangers_entrant.refresh_from_db()
        assert cast.strangers_entrant.is_verified
        with pytest.raises(Conflict, match="ruled on already"):
            entrant_requests.rule(cast.organiser, asked, granted=False, words="")

    def test_nobody_floods_the_organisers(self, cast: Cast) -> None:
        made = [factories.EntrantFactory(owner=cast.organiser) for _ in range(entrant_requests.DAILY_REQUESTS + 1)]
        for one in made[:-1]:
            entrant_requests.ask(cast.stranger, "claim", one, "Mine.")
        with pytest.raises(Refused, match="within 24 hours"):
            entrant_requests.ask(cast.stranger, "claim", made[-1], "Mine.")


def test_an_organiser_puts_somebody_in_charge(client: Any, cast: Cast, team: Team) -> None:
    client.force_login(cast.organiser)
    path = reverse("admin:leaderboard_team_act", args=[team.pk, "owner"])
    assert "There is no account" in markup(client.post(path, {"username": "nobody"}))
    assert "is an owner" in markup(client.post(path, {"username": "stranger"}))
    assert member(cast, "stranger").role == TeamRole.OWNER
    assert client.get(reverse("admin:leaderboard_team_change", args=[team.pk])).status_code == 200


def test_mailed_invitations_are_bounded_whatever_becomes_of_them(cast: Cast, team: Team, settings: Any) -> None:
    settings.MAIL = {"backend": "django.core.mail.backends.locmem.EmailBackend"}
    settings.MAIL_URL = "smtp://mail.example.org"
    for n in range(teams.MAILS_PER_DAY):
        row, _ = teams.invite_to_team(cast.owner, team, "member", email=f"p{n}@example.org", join_url="https://x/")
        teams.withdraw_invitation(cast.owner, row)
    with pytest.raises(TooMuch, match="20 invitations a day"):
        teams.invite_to_team(cast.owner, team, "member", email="more@example.org", join_url="https://x/")
    assert len(mail.outbox) == teams.MAILS_PER_DAY
    teams.invite_to_team(cast.owner, team, "member", join_url="https://x/")


def test_one_address_is_mailed_a_few_invitations_a_day_by_all_accounts(cast: Cast, team: Team, settings: Any) -> None:
    settings.MAIL = {"backend": "django.core.mail.backends.locmem.EmailBackend"}
    settings.MAIL_URL = "smtp://mail.example.org"
    others = [teams.create_team(factories.UserFactory(username=f"u{n}"), f"Team {n}") for n in range(4)]
    for other in others[: teams.MAILS_TO_ONE_PER_DAY]:
        teams.invite_to_team(other.users.get(), other, "member", email="One@example.org", join_url="https://x/")
    with pytest.raises(TooMuch, match="several invitations today"):
        teams.invite_to_team(others[3].users.get(), others[3], "member", email="one@example.org", join_url="https://x/")


@pytest.mark.parametrize("name", ["a\rb", "a\nb", "a\x01b", "a\u2028b"])
def test_a_name_with_a_line_break_is_refused(name: str, client: Any, cast: Cast) -> None:
    with pytest.raises(Refused, match="printable"):
        teams.create_team(cast.owner, name)
    client.force_login(cast.stranger)
    said = {"name": name, "kind": "model"}
    address = reverse("edit_entrant", args=[cast.strangers_entrant.slug])
    assert client.post(address, said).status_code == 422


def test_a_verification_ends_when_who_it_is_changes(client: Any, cast: Cast) -> None:
    entrant = cast.strangers_entrant
    Entrant.objects.filter(pk=entrant.pk).update(is_verified=True)
    client.force_login(cast.stranger)
    address, said = reverse("edit_entrant", args=[entrant.slug]), {"name": entrant.name, "kind": entrant.kind}
    told = {"organisation": entrant.organisation, "description": "Told anew."}
    client.post(address, said | told | opened(client, address))
    assert Entrant.objects.get(pk=entrant.pk).is_verified
    said |= {"organisation": "A famous lab"} | opened(client, address)
    page = markup(client.post(address, said, follow=True))
    assert "no longer verified" in page
    assert not Entrant.objects.get(pk=entrant.pk).is_verified


def test_what_an_account_does_to_itself_is_audited_under_its_own_name(client: Any, cast: Cast) -> None:
    client.force_login(cast.owner)
    made: Any = client.get("/").wsgi_request.user
    assert type(made).__name__ == "SimpleLazyObject"
    assert target_of(made) == target_of(cast.owner) == "user owner"


def test_a_role_that_was_changed_meanwhile_is_not_overwritten(client: Any, cast: Cast) -> None:
    team, mine = cast.entrant.team, member(cast)
    assert team is not None
    teams.set_role(cast.owner, mine, TeamRole.READER)
    client.force_login(cast.owner)
    address = reverse("change_role", args=[team.slug, mine.pk])
    page = markup(client.post(address, {"role": "owner", "was": "member"}, follow=True))
    assert "became reader" in page and member(cast).role == TeamRole.READER
    assert f'name="was" value="{TeamRole.READER}"' in page
    client.post(address, {"role": "owner", "was": "reader"})
    assert member(cast).role == TeamRole.OWNER
