"""Rows that never change cannot be changed in the admin; flags are decided, nodes enrolled, tokens kept secret."""

from typing import Any

import pytest
from django.apps import apps
from django.contrib import admin
from django.urls import reverse

from leaderboard.models import ApiToken, Decision, Result, Track
from runners.fleet.attempts.claim import digest_of
from runners.fleet.models import Node, NodeGrant
from runners.wire.protocol import FlagReport, FlagScope
from tests import factories
from tests.admin.pages import act, opened, signed_in, text
from tests.made_once import of_module, part

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]
OURS = [model for model in admin.site._registry if model._meta.app_label in {"leaderboard", "problems", "fleet"}]
READ_ONLY = ["leaderboard.Result", "leaderboard.Measurement", "leaderboard.Decision", "leaderboard.AuditEntry",
             "leaderboard.Flag", "leaderboard.Submission", "leaderboard.Evaluation", "problems.Problem"]  # fmt: skip


def _make() -> tuple[factories.Cast, Any]:
    cast = factories.Cast.make()
    made = factories.release(2)
    flag = FlagReport(code="left_early", scope=FlagScope.VERDICT, detail="seen")
    report = factories.report(flags=[flag])
    judged = factories.judged_submission(cast.entrant, made, factories.offer(made), lambda _one: report, n_samples=1)
    return cast, judged


made_site = of_module(_make)
cast, judged = part(0), part(1)


@pytest.mark.parametrize("model", OURS, ids=lambda model: model.__name__)
def test_every_list_and_row_opens(judged: Any, cast: Any, model: Any) -> None:
    factories.grant(factories.NodeFactory(), Track.objects.get())
    factories.token(cast.owner)
    browser, name = signed_in(cast.organiser), f"{model._meta.app_label}_{model._meta.model_name}"
    assert browser.get(reverse(f"admin:{name}_changelist")).status_code == 200
    row = model.objects.first()
    if row is not None:
        assert browser.get(reverse(f"admin:{name}_change", args=[row.pk])).status_code == 200


@pytest.mark.parametrize("label", READ_ONLY)
def test_what_never_changes_has_no_way_to_change_it(judged: Any, cast: Any, label: str) -> None:
    model = apps.get_model(label)
    browser, name = signed_in(cast.organiser), f"{model._meta.app_label}_{model._meta.model_name}"
    assert browser.get(reverse(f"admin:{name}_add")).status_code == 403
    row = model.objects.first()
    if row is not None:
        assert browser.post(reverse(f"admin:{name}_change", args=[row.pk]), {}).status_code == 403
        assert browser.post(reverse(f"admin:{name}_delete", args=[row.pk]), {"post": "yes"}).status_code == 403
        assert model.objects.filter(pk=row.pk).exists()


def test_a_submission_is_cancelled_or_retracted_with_a_reason(judged: Any, cast: Any) -> None:
    assert "off the boards" in text(act(cast.organiser, "leaderboard_submission", "retract", judged, reason="asked to"))
    assert Decision.objects.get().submission == judged
    assert act(cast.organiser, "leaderboard_submission", "cancel", judged, reason="x").status_code == 404
    assert Result.objects.count() == 2


def test_a_node_is_enrolled_and_its_token_shown_once(cast: Any) -> None:
    track = factories.TrackFactory()
    page = text(act(cast.organiser, "fleet_node", "add", slug="gpu-1", tracks=[track.pk], stages=["both"]))
    secret = page.partition("PODIUM_NODE_TOKEN=")[2].split()[0]
    node = Node.objects.get()
    assert node.token_digest == digest_of(secret)
    assert NodeGrant.objects.get().track == track
    page = text(signed_in(cast.organiser).get(reverse("admin:fleet_node_change", args=[node.pk])))
    assert secret not in page
    assert node.token_digest not in page


def test_a_node_is_disabled_with_a_reason_and_enabled_again(cast: Any) -> None:
    node = factories.NodeFactory()
    assert act(cast.organiser, "fleet_node", "disable", node).status_code == 422
    act(cast.organiser, "fleet_node", "disable", node, reason="drifts")
    node.refresh_from_db()
    assert node.disabled_reason == "drifts"
    act(cast.organiser, "fleet_node", "enable", node)
    node.refresh_from_db()
    assert node.disabled_reason == ""


def test_a_renewed_token_replaces_the_old_one(cast: Any) -> None:
    node = factories.NodeFactory()
    before = node.token_digest
    act(cast.organiser, "fleet_node", "renew", node)
    node.refresh_from_db()
    assert node.token_digest != before


def test_a_token_can_be_revoked_but_never_read(cast: Any) -> None:
    secret = factories.token(cast.owner)
    token = ApiToken.objects.get()
    page = text(signed_in(cast.organiser).get(reverse("admin:leaderboard_apitoken_change", args=[token.pk])))
    assert secret not in page
    assert token.digest not in page
    act(cast.organiser, "leaderboard_apitoken", "revoke", token)
    assert ApiToken.find(secret) is None


def test_a_track_in_use_keeps_its_meaning(cast: Any) -> None:
    track = factories.offer(factories.release(1))
    browser, address = signed_in(cast.organiser), reverse("admin:leaderboard_track_change", args=[track.pk])
    browser.post(address, {"title": "New words", "peaks": "{}", "device": "gpu"} | opened(browser, address))
    track.refresh_from_db()
    assert (track.title, track.device) == ("New words", "cpu")
