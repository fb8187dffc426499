"""Acts on the rows ticked in a list: a page asks the reason, then each row gets its line of the report."""

from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.urls import reverse

from leaderboard.models import AuditEntry, Decision, Entrant, Evaluation, Submission
from tests import factories
from tests.admin.pages import opened, signed_in, text

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


def tick(user: User, name: str, model: str, rows: list[Any], **said: Any) -> Any:
    """POST as the list does, and with `confirmed` as the page does that asks for the reason."""
    body = {"action": name, "_selected_action": [row.pk for row in rows], "select_across": "0", **said}
    return signed_in(user).post(reverse(f"admin:leaderboard_{model}_changelist"), body)


@pytest.fixture
def stored(cast: Any) -> list[Submission]:
    made = factories.release(2)
    track = factories.offer(made)
    judged = factories.judged_submission(cast.entrant, made, track, n_samples=1)
    return [judged, factories.submission(cast.strangers_entrant, made, track, n_samples=1)]


def test_a_page_asks_for_the_reason_before_anything_changes(cast: Any, stored: list[Submission]) -> None:
    page = text(tick(cast.organiser, "cancel", "submission", stored, index="0"))
    assert "2 chosen" in page
    assert 'name="reason"' in page
    assert f"#{stored[1].pk} Stranger" in page
    stored[1].refresh_from_db()
    assert stored[1].state == "accepted"
    answer = tick(cast.organiser, "cancel", "submission", stored, confirmed="1", reason=" ")
    assert answer.status_code == 422
    stored[1].refresh_from_db()
    assert stored[1].state == "accepted"


def test_submissions_are_cancelled_and_the_refused_are_named(cast: Any, stored: list[Submission]) -> None:
    page = text(tick(cast.organiser, "cancel", "submission", stored, confirmed="1", reason="A wrong pack."))
    assert f"#{stored[1].pk} Stranger&#x27;s model on test-1: 2 evaluations withdrawn." in page
    assert f"Submission #{stored[0].pk} is done already." in page
    assert Submission.objects.get(pk=stored[1].pk).state == "cancelled"
    assert AuditEntry.objects.get(action="cancel", actor=cast.organiser).reason == "A wrong pack."


def test_submissions_are_retracted(cast: Any, stored: list[Submission]) -> None:
    tick(cast.organiser, "retract", "submission", stored, confirmed="1", reason="Trained on the tests.")
    assert set(Decision.objects.values_list("submission", flat=True)) == {one.pk for one in stored}


def test_submissions_and_evaluations_are_run_again(cast: Any, stored: list[Submission]) -> None:
    page = text(tick(cast.organiser, "rerun", "submission", stored, confirmed="1", reason="A bad driver."))
    assert "2 evaluations queued again" in page
    assert "not done. Only evaluations that a node has finished" in page
    factories.judge(stored[0])
    chosen = [*stored[0].evaluations.all(), *stored[1].evaluations.all()]
    page = text(tick(cast.organiser, "rerun", "evaluation", chosen, confirmed="1", reason="Once more."))
    assert "2 of 4 evaluations queued again." in page
    assert set(Evaluation.objects.values_list("state", flat=True)) == {"queued"}
    assert AuditEntry.objects.filter(action="rerun", reason="Once more.").count() == 2


def test_all_rows_of_a_filtered_list_can_be_taken(cast: Any, stored: list[Submission]) -> None:
    path = reverse("admin:leaderboard_evaluation_changelist", query={"q": f"#{stored[0].pk}"})
    one = stored[0].evaluations.order_by("pk").first()
    body = {"action": "rerun", "_selected_action": [one.pk], "select_across": "1", "confirmed": "1", "reason": "Again."}
    page = text(signed_in(cast.organiser).post(path, body))
    assert "2 of 2 evaluations queued again." in page


def test_too_many_rows_are_refused(cast: Any, stored: list[Submission], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("leaderboard.admin.base.MAX_TICKED", 1)
    answer = tick(cast.organiser, "retract", "submission", stored, confirmed="1", reason="No.")
    assert answer.status_code == 422
    assert "At most 1 rows at a time" in text(answer)
    assert not Decision.objects.exists()


def test_acts_are_for_those_with_the_right_to_change(cast: Any, stored: list[Submission]) -> None:
    reader = factories.UserFactory(is_staff=True)
    reader.user_permissions.add(Permission.objects.get(codename="view_submission"))
    for user in (cast.stranger, cast.owner, reader):
        tick(user, "retract", "submission", stored, confirmed="1", reason="Mine.")
    assert not Decision.objects.exists()


def test_people_are_named_by_their_usernames(cast: Any) -> None:
    made = factories.release(1)
    path = reverse("admin:problems_release_change", args=[made.pk])
    fields = {"title": made.title, "is_public": "on", "max_samples": "20"} | opened(signed_in(cast.organiser), path)
    answer = signed_in(cast.organiser).post(path, {**fields, "invited": "stranger nobody-here"})
    assert "There is no account named nobody-here." in text(answer)
    assert signed_in(cast.organiser).post(path, {**fields, "invited": "stranger\n teammate "}).status_code == 302
    assert set(made.invited.all()) == {cast.stranger, cast.teammate}
    assert "stranger\nteammate" in text(signed_in(cast.organiser).get(path))


def test_an_entrant_is_not_given_to_a_user_and_a_team(cast: Any) -> None:
    path = reverse("admin:leaderboard_entrant_change", args=[cast.entrant.pk])
    fields = {"name": "Alpha", "slug": cast.entrant.slug, "kind": "model", "open_weights": ""}
    fields |= opened(signed_in(cast.organiser), path)
    both = {"owner": cast.owner.pk, "team": cast.entrant.team.pk}
    assert "to a user or to a team, not to both" in text(signed_in(cast.organiser).post(path, fields | both))
    assert signed_in(cast.organiser).post(path, fields | {"owner": cast.stranger.pk, "team": ""}).status_code == 302
    assert Entrant.objects.get(pk=cast.entrant.pk).owner == cast.stranger
    assert AuditEntry.objects.get(action="set_holder").detail == {"was": "Alpha's team", "now": "stranger"}


def test_an_accounts_new_rights_are_audited(cast: Any) -> None:
    path = reverse("admin:auth_user_change", args=[cast.stranger.pk])
    fields = {"username": "stranger", "email": "s@example.org", "is_active": "on", "is_staff": "on"}
    fields |= opened(signed_in(cast.organiser), path)
    assert signed_in(cast.organiser).post(path, fields).status_code == 302
    entry = AuditEntry.objects.get(action="edit", target="user stranger")
    assert (entry.actor, "is_staff" in entry.detail["fields"]) == (cast.organiser, True)


def test_a_release_that_closes_before_it_opens_is_refused_in_words(cast: Any) -> None:
    made = factories.release(1)
    path = reverse("admin:problems_release_change", args=[made.pk])
    fields = {"title": made.title, "is_public": "on", "max_samples": "20", "opens_at": "2026-05-02T10:00:00"}
    fields |= opened(signed_in(cast.organiser), path)
    answer = signed_in(cast.organiser).post(path, {**fields, "closes_at": "2026-05-01T10:00:00"})
    assert "It opens at 2026-05-02 10:00 UTC and must close later." in text(answer)
    assert signed_in(cast.organiser).post(path, {**fields, "closes_at": "2026-05-03T10:00:00"}).status_code == 302
    made.refresh_from_db()
    assert f"{made.closes_at:%Y-%m-%d %H:%M}" == "2026-05-03 10:00"
