"""Machines make themselves nodes with a join token, within what an organiser has allowed, and go again."""

import json
import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from leaderboard.errors import Refused
from leaderboard.models import AuditEntry, Evaluation, Result, Track
from runners.fleet.models import Attempt, AttemptState, JoinToken, Node, Service
from runners.fleet.nodes.joining import FAILURES_PER_MINUTE, RETIRED_AFTER, make_token, revoke_token
from runners.fleet.nodes.service import enable
from runners.fleet.worker.sweep import sweep
from runners.wire.protocol import PROTOCOL_VERSION, Stage
from tests.fleet.site import Site, WireNode

pytestmark = [pytest.mark.django_db]


@pytest.fixture
def site() -> Site:
    made = Site.make()
    made.submit({"a/1": ["exit 0"], "a/2": ["exit 0"]})
    return made


def token_of(site: Site, **changes: Any) -> tuple[JoinToken, str]:
    terms = {"name": "slurm", "tracks": [site.track], "stages": [Stage.BOTH], "most_nodes": 3}
    expires_at = timezone.now() + timedelta(days=7)
    return make_token(site.organiser, **({**terms, "expires_at": expires_at} | changes))


def ask(secret: str, name: str = "Host 1", version: int = PROTOCOL_VERSION) -> Any:
    body, headers = {"protocol_version": version, "name": name}, {"Authorization": f"Bearer {secret}"}
    return Client().post("/api/node/v1/join", json.dumps(body), content_type="application/json", headers=headers)


def joined(secret: str, name: str = "Host 1") -> WireNode:
    answer = ask(secret, name)
    assert answer.status_code == 201, answer.content
    node = WireNode(token=answer.json()["token"])
    assert node.hello().status_code == 200
    return node


def test_a_machine_joins_as_a_node_of_the_token_s_tracks(site: Site, settings: Any) -> None:
    settings.NODE_BROKER_URL = "amqp://reader@broker/"
    token, secret = token_of(site)
    reply = ask(secret, "GPU host.example").json()
    assert (reply["node"], reply["broker_url"]) == ("gpu-hostexample", "amqp://reader@broker/")
    node = Node.objects.get(slug=reply["node"])
    assert (node.joined_by, [str(one.track) for one in node.grants.all()]) == (token, [str(site.track)])
    assert WireNode(token=reply["token"]).hello().json()["broker_url"] == "amqp://reader@broker/"
    assert AuditEntry.objects.filter(action="join", target__contains=node.slug, detail__token="slurm").exists()


def test_a_join_token_is_no_node_s_token_and_its_secret_is_not_stored(site: Site) -> None:
    token, secret = token_of(site)
    assert WireNode(token=secret).hello().status_code == 401
    assert secret not in str(JoinToken.objects.filter(pk=token.pk).values().get())


def test_names_that_exist_or_existed_are_never_taken_again(site: Site) -> None:
    _, secret = token_of(site)
    names = [ask(secret, name).json()["node"] for name in ("node-1", "Node-1", "../…")]
    assert names == ["node-1-2", "node-1-3", "node"]


@pytest.mark.parametrize("state", ["expired", "revoked", "unknown"])
def test_a_token_that_does_not_hold_makes_no_node(site: Site, state: str) -> None:
    token, secret = token_of(site)
    if state == "expired":
        JoinToken.objects.update(expires_at=timezone.now())
    elif state == "revoked":
        revoke_token(site.organiser, token, "done")
    answer = ask("pdj_other" if state == "unknown" else secret)
    assert (answer.status_code, answer.json()["code"]) == (401, "unknown_join_token")
    assert Node.objects.count() == 1
    assert AuditEntry.objects.filter(action="refuse join").count() == 1


def test_no_more_nodes_join_than_are_allowed_and_one_that_leaves_makes_room(site: Site) -> None:
    _, secret = token_of(site, most_nodes=2)
    first, _ = joined(secret), joined(secret)
    assert (ask(secret).status_code, ask(secret).json()["code"]) == (403, "too_many_nodes")
    work = first.take()
    assert first._post("leave", "{}").status_code == 204
    assert Attempt.objects.get(pk=work["attempt"]).state == AttemptState.GIVEN_BACK
    assert first.hello().status_code == 401
    joined(secret)


def test_a_node_that_is_not_seen_for_an_hour_is_retired(site: Site) -> None:
    _, secret = token_of(site, most_nodes=1)
    node = joined(secret)
    Node.objects.exclude(joined_by=None).update(last_seen_at=timezone.now() - RETIRED_AFTER - timedelta(seconds=1))
    Node.objects.filter(joined_by=None).update(last_seen_at=timezone.now() - timedelta(days=9))
    sweep()
    assert set(Node.objects.values_list("slug", "service")) == {("node-1", "in_service"), ("host-1", "retired")}
    assert node.hello().status_code == 401
    joined(secret)


def test_an_enrolled_node_is_not_retired_by_leaving(site: Site) -> None:
    node = WireNode()
    assert node._post("leave", "{}").status_code == 204
    assert node.hello().status_code == 200


def test_refused_joins_of_an_address_are_bounded(site: Site) -> None:
    _, secret = token_of(site)
    answers = [ask("pdj_guess").status_code for _ in range(FAILURES_PER_MINUTE + 1)]
    assert answers == [401] * FAILURES_PER_MINUTE + [429]
    assert ask(secret).status_code == 429


def test_results_name_the_token(site: Site) -> None:
    _, secret = token_of(site)
    node = joined(secret)
    node.report(node.begin(node.take()))
    assert Result.objects.get().provenance["join_token"] == "slurm"


def test_revoking_ends_its_nodes_and_leases_and_voids_their_results_if_wanted(site: Site) -> None:
    token, secret = token_of(site)
    node = joined(secret)
    node.report(node.begin(node.take()))
    work = node.begin(node.take())
    assert revoke_token(site.organiser, token, "it lies", voids=True) == 1
    assert node.hello().status_code == 401
    assert Attempt.objects.get(pk=work["attempt"]).state == AttemptState.GIVEN_BACK
    assert Result.objects.exclude(voided=None).count() == 1
    assert Evaluation.objects.exclude(current_result=None).count() == 0
    assert Node.objects.get(slug="host-1").service == Service.REVOKED


def test_results_of_a_node_that_has_left_are_voided_too(site: Site) -> None:
    token, secret = token_of(site)
    node = joined(secret)
    node.report(node.begin(node.take()))
    node._post("leave", "{}")
    with pytest.raises(Refused, match="has left"):
        enable(site.organiser, Node.objects.get(slug="host-1"))
    revoke_token(site.organiser, token, "it lied", voids=True)
    assert Result.objects.exclude(voided=None).count() == 1


def test_revoking_alone_keeps_the_results(site: Site) -> None:
    token, secret = token_of(site)
    node = joined(secret)
    node.report(node.begin(node.take()))
    revoke_token(site.organiser, token, "the job has ended")
    assert Evaluation.objects.exclude(current_result=None).count() == 1


@pytest.mark.parametrize(
    "changes",
    [
        {"expires_at": timezone.now() + timedelta(days=31)},
        {"expires_at": timezone.now() - timedelta(days=1)},
        {"most_nodes": 0},
        {"tracks": []},
        {"judged_again": 1.5},
        {"name": "No Slug"},
    ],
)
def test_a_token_without_bounds_is_refused(site: Site, changes: dict[str, Any]) -> None:
    with pytest.raises(Refused):
        token_of(site, **changes)
    assert not JoinToken.objects.exists()


def test_strangers_make_and_revoke_no_tokens(site: Site) -> None:
    token, _ = token_of(site)
    stranger = User.objects.create_user("stranger")
    expires_at = timezone.now() + timedelta(days=1)
    for user in (site.owner, stranger):
        with pytest.raises(Refused):
            make_token(user, "mine", [site.track], [Stage.BOTH], 1, expires_at)
        with pytest.raises(Refused):
            revoke_token(user, token, "mine")
    assert JoinToken.objects.get().revoked_at is None


def folder_of(node: WireNode, state_id: uuid.UUID) -> Any:
    return node.hello(state_id=str(state_id))


def test_a_second_process_with_one_token_is_refused_while_the_first_is_heard(site: Site) -> None:
    first, second = WireNode(), WireNode()
    one, other = uuid.uuid4(), uuid.uuid4()
    assert folder_of(first, one).status_code == 200
    work = first.take()
    answer = folder_of(second, other)
    assert (answer.status_code, answer.json()["code"]) == (409, "another_process")
    assert Attempt.objects.get(pk=work["attempt"]).state == AttemptState.LEASED


def test_a_restart_with_the_same_folder_takes_over_at_once(site: Site) -> None:
    folder = uuid.uuid4()
    first = WireNode()
    folder_of(first, folder)
    first.take()
    assert folder_of(WireNode(), folder).status_code == 200
    assert Attempt.objects.get().state == AttemptState.EXPIRED


def test_another_process_takes_over_once_the_first_is_silent_and_the_first_is_told(site: Site, settings: Any) -> None:
    first, second = WireNode(), WireNode()
    folder_of(first, uuid.uuid4())
    silence = timedelta(seconds=2 * settings.HEARTBEAT_SECONDS + 1)
    Node.objects.update(last_seen_at=timezone.now() - silence)
    assert folder_of(second, uuid.uuid4()).status_code == 200
    told = first._post("heartbeat", json.dumps({"beats": [], "boot_id": str(first.boot_id)}))
    assert (told.status_code, told.json()["code"]) == (409, "another_process")
    asked = {"protocol_version": PROTOCOL_VERSION, "track": "cpu-test", "stage": "both", "boot_id": str(first.boot_id)}
    assert first._post("claim", json.dumps(asked)).status_code == 409


def test_a_joined_node_runs_the_golden_program_before_its_first_job_on_a_gpu(site: Site) -> None:
    _, secret = token_of(site)
    node = joined(secret)
    Track.objects.update(device="gpu")
    gpu = {"uuid": "GPU-1", "name": "NVIDIA H100", "compute_capability": "9.0"}
    node.hello(capabilities={"gpus": [gpu], "profilers": ["cupti"]})
    answer = node.claim()
    assert (answer.status_code, answer.json()["code"]) == (403, "golden_first")
    times = {"median_ms": 1.0, "low_ms": 1.0, "high_ms": 1.0, "ran_at": timezone.now().isoformat()}
    golden = {"gpu_uuid": "GPU-1", "name": "compute", **times}
    assert (
        node._post("health", json.dumps({"protocol_version": PROTOCOL_VERSION, "golden": [golden]})).status_code == 200
    )
    assert node.claim().status_code == 200
