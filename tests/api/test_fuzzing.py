"""Requests drawn from the schemas of the public API and of the node API, valid and invalid: none is answered by a 5xx.

`pytest tests/api/test_fuzzing.py -m "" --hypothesis-profile=long` draws more, and new ones each time.
"""

import hashlib
import traceback
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
import requests
import schemathesis
from django.db import transaction
from django.test import Client
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel
from pydantic.json_schema import models_json_schema
from schemathesis import APIOperation, Case
from schemathesis.generation import GenerationMode

from leaderboard.models import Submission
from runners.wire.batches import ClaimRequest, NodeBeat
from runners.wire.health import NodeHealth
from runners.wire.join import JoinRequest
from runners.wire.protocol import Heartbeat, Hello, Report
from tests import factories
from tests.fleet.site import WireNode, add_node

pytestmark = [pytest.mark.django_db, pytest.mark.rest, pytest.mark.both_databases]

Known = Mapping[str, list[Any]]
"""Values that exist on the site, by the name of a parameter or of a body's field. Random ones rarely meet a row."""


@pytest.fixture
def submission(cast: factories.Cast, monkeypatch: pytest.MonkeyPatch) -> Submission:
    """A judged submission of a release whose track a node with a leased attempt serves; sending is not throttled."""
    monkeypatch.setattr("rest_framework.throttling.ScopedRateThrottle.THROTTLE_RATES", {"submit": None})
    made = factories.release(2)
    judged = factories.judged_submission(cast.entrant, made, factories.offer(made))
    factories.submission(cast.strangers_entrant, made, judged.tracks.get())
    return judged


def test_no_request_of_the_public_api_is_answered_by_a_fault(cast: factories.Cast, submission: Submission) -> None:
    problem = submission.release.problems.first()
    known = {
        "id": [submission.pk, submission.pk + 1, submission.evaluations.first().pk],
        "slug": [submission.release.slug, cast.entrant.slug],
        "release": [submission.release.slug],
        "problem": [problem.slug],
        "task_id": [problem.task_id],
        "entrant": [cast.entrant.slug],
        "track": ["cpu-test"],
        "tracks": [["cpu-test"]],
        "evaluations": [[one.pk for one in submission.evaluations.all()]],
        "files": [[{"path": "solution.sh", "content": "exit 0"}]],
    }
    tokens = [factories.token(user) for user in (cast.owner, cast.stranger, cast.organiser)]
    headers = [*({"Authorization": f"Bearer {one}"} for one in [*tokens, "pdm_wrong"]), {}]
    described = Client().get("/api/schema/", {"format": "json"}).json()
    check(described, known, headers)


def test_no_request_of_the_node_api_is_answered_by_a_fault(submission: Submission) -> None:
    add_node("fuzzed", submission.tracks.get(), "node-secret")
    node = WireNode("node-secret")
    work = node.take()
    known = {
        "attempt": [work["attempt"]],
        "sha256": [work["solution"]["sha256"], work["problem"]["record"]["sha256"], hashlib.sha256(b"").hexdigest()],
        "track": ["cpu-test"],
        "protocol_version": [node.version],
    }
    held = {"Authorization": f"Bearer {node.token}", "X-Podium-Attempt": work["attempt_token"]}
    headers = [held, held, held, held, held | {"X-Podium-Attempt": "wrong"}, {"Authorization": "Bearer wrong"}, {}]
    check(node_api(), known, headers)


def node_api() -> dict[str, Any]:
    """The node API as OpenAPI: the site publishes none, so it is made of the wire's models."""
    posts: dict[str, type[BaseModel] | None] = {
        "hello": Hello,
        "health": NodeHealth,
        "claim": ClaimRequest,
        "heartbeat": NodeBeat,
        "join": JoinRequest,
        "leave": None,
        "attempts/{attempt}/heartbeat": Heartbeat,
        "attempts/{attempt}/release": None,
        "attempts/{attempt}/report": Report,
    }
    models = [(model, "validation") for model in posts.values() if model]
    _, schemas = models_json_schema(models, ref_template="#/components/schemas/{model}")
    paths: dict[str, Any] = {
        path: {"post": _operation("application/json", model and f"#/components/schemas/{model.__name__}")}
        for path, model in posts.items()
    }
    blob = {"type": "string", "format": "binary"}
    paths["attempts/{attempt}/blobs/{sha256}"] = {
        "get": _operation(), "put": _operation() | {"requestBody": _body("application/octet-stream", blob)}
    }  # fmt: skip
    for path, operations in paths.items():
        operations["parameters"] = [
            {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
            for name in ("attempt", "sha256")
            if f"{{{name}}}" in path
        ]
    return {
        "openapi": "3.1.0",
        "info": {"title": "Node API", "version": "1"},
        "paths": {f"/api/node/v1/{path}": operations for path, operations in paths.items()},
        "components": {"schemas": schemas["$defs"]},
    }


def _operation(media_type: str = "", reference: str | None = None) -> dict[str, Any]:
    body = {"requestBody": _body(media_type, {"$ref": reference})} if reference else {}
    return body | {"responses": {"200": {"description": "done"}}}


def _body(media_type: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    return {"content": {media_type: {"schema": schema}}, "required": True}


def narrowed(schema: Any, known: Known) -> Any:
    """The schema with only the `known` values where it names them."""
    if isinstance(schema, list):
        return [narrowed(one, known) for one in schema]
    if not isinstance(schema, dict):
        return schema
    inner = {key: narrowed(one, known) for key, one in schema.items()}
    if "schema" in inner and inner.get("name") in known:
        inner["schema"] = {"enum": known[inner["name"]]}
    if isinstance(fields := inner.get("properties"), dict):
        inner["properties"] = fields | {name: {"enum": known[name]} for name in fields.keys() & known.keys()}
    return inner


def check(description: dict[str, Any], known: Known, headers: list[dict[str, str]]) -> None:
    """Send requests to each operation, each request to the same state of the site. Names all operations that failed."""
    free, bound = map(_operations, (description, narrowed(description, known)))
    faults = [fault for label in free for fault in _faults([free[label], bound[label]], headers)]
    assert not faults, "\n".join(faults)


def _operations(description: dict[str, Any]) -> dict[str, APIOperation]:
    found = schemathesis.openapi.from_dict(description).get_all_operations()
    return {one.ok().label: one.ok() for one in found}


def _faults(operations: list[APIOperation], headers: list[dict[str, str]]) -> Iterator[str]:
    cases = [one.as_strategy(generation_mode=mode) for one in operations for mode in GenerationMode]

    @settings(max_examples=settings().max_examples // 4, phases=[Phase.generate])
    @given(case=st.one_of(cases), sent=st.sampled_from(headers))
    def is_no_fault(case: Case, sent: dict[str, str]) -> None:
        try:
            with transaction.atomic():
                assert _status(case, sent) < 500
                transaction.set_rollback(True)
        except Exception as error:  # whatever a view raises
            error.add_note(case.as_curl_command())
            raise

    try:
        is_no_fault()
    except Exception as fault:  # noqa: BLE001
        yield "".join(traceback.format_exception(fault, limit=-3))


def _status(case: Case, headers: dict[str, str]) -> int:
    """The status of the answer, read to its end. Raises what the view raises."""
    sent = requests.Request(**case.as_transport_kwargs("http://testserver", headers)).prepare()
    content_type = sent.headers.get("Content-Type", "")
    answer = Client().generic(
        str(sent.method), sent.path_url, sent.body or b"", content_type, headers=dict(sent.headers)
    )
    answer.getvalue()
    return answer.status_code
