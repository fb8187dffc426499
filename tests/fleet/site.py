"""A site with a published release on a CPU track, an entrant, and a node; and a node's side of the wire for tests."""

import json
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any

from django.contrib.auth.models import User
from django.test import Client

from leaderboard.actions.curation.tracks import offer
from leaderboard.actions.intake.submit import submit
from leaderboard.intake.catalogue import catalogue_of
from leaderboard.models import Entrant, Submission, Track
from leaderboard.rows.submissions import SubmissionMetadata
from problems.actions.releases import import_release, publish
from problems.formats.submission import read_submission
from problems.models import Release
from runners.fleet.attempts.claim import digest_of
from runners.fleet.models import Node, NodeGrant
from runners.fleet.worker.score import score_reported
from runners.wire.protocol import PROTOCOL_VERSION, Provenance, Report, Stage, Verdict, Witness
from tests.packs import problem, problem_pack, solution, solution_pack

NODE_TOKEN = "node-secret"


@dataclass
class Site:
    organiser: User
    owner: User
    entrant: Entrant
    release: Release
    track: Track
    node: Node

    @classmethod
    def make(cls, problems: Sequence[dict[str, Any]] | None = None, **metadata: Any) -> "Site":
        organiser = User.objects.create_user("organiser", password="x", is_staff=True, is_superuser=True)
        owner = User.objects.create_user("owner", password="x")
        entrant = Entrant.objects.create(slug="one", name="One", owner=owner)
        pack = problem_pack(problems or [problem("a/1"), problem("a/2")], **metadata)
        release = import_release(pack).release
        track = Track.objects.create(slug="cpu-test", title="Test CPU", device="cpu")
        offer(organiser, release, track)
        publish(release)
        Release.objects.filter(pk=release.pk).update(is_public=True)
        release.refresh_from_db()
        node = add_node("node-1", track, NODE_TOKEN)
        return cls(organiser, owner, entrant, release, track, node)

    def submit(self, scripts: dict[str, list[str]], entrant: Entrant | None = None, priority: int = 0) -> Submission:
        """One sample per script of each task, through the reader and the action that production uses."""
        rows = [solution(task_id, script) for task_id, samples in scripts.items() for script in samples]
        draft = read_submission(solution_pack(rows), "test-1-one-solutions.tar.gz", catalogue_of(self.release))
        metadata = SubmissionMetadata(entrant or self.entrant, self.release, [self.track], priority=priority)
        return submit((entrant or self.entrant).owner, metadata, draft).submission


def add_node(slug: str, track: Track, token: str, stage: Stage = Stage.BOTH) -> Node:
    node = Node.objects.create(slug=slug, token_digest=digest_of(token))
    NodeGrant.objects.create(node=node, track=track, stage=stage)
    return node


@dataclass
class WireNode:
    """Speaks the node API through Django's client, byte for byte as an agent would."""

    token: str = NODE_TOKEN
    track: str = "cpu-test"
    stage: Stage = Stage.BOTH
    boot_id: uuid.UUID = field(default_factory=uuid.uuid4)
    version: int = PROTOCOL_VERSION
    http: Client = field(default_factory=Client)

    def _post(self, path: str, body: str, attempt_token: str = "") -> Any:
        headers = {"Authorization": f"Bearer {self.token}", "X-Podium-Attempt": attempt_token}
        return self.http.post(f"/api/node/v1/{path}", body, content_type="application/json", headers=headers)

    def hello(self, **more: Any) -> Any:
        said = {"protocol_version": self.version, "capabilities": {"cpu_cores": 2}, "boot_id": str(self.boot_id)}
        return self._post("hello", json.dumps(said | more))

    def start_anew(self) -> None:
        """A new life of the node, after one that ended without a word."""
        self.boot_id = uuid.uuid4()
        assert self.hello().status_code == 200

    def begin(self, work: dict[str, Any]) -> dict[str, Any]:
        """Fetch the solution, as the work on every attempt begins."""
        assert self.blob(work, work["solution"]["sha256"]).status_code == 200
        return work

    def claim(self) -> Any:
        asked = {"protocol_version": self.version, "track": self.track, "stage": self.stage.value}
        return self._post("claim", json.dumps(asked))

    def take(self) -> dict[str, Any]:
        """Claim one piece of work; fails the test where there is none."""
        answer = self.claim()
        assert answer.status_code == 200, answer.content
        work: dict[str, Any] = answer.json()
        return work

    def take_up_to(self, n: int) -> list[dict[str, Any]]:
        """Claim until the queue is empty, n times at most."""
        answers = (self.claim() for _ in range(n))
        return [answer.json() for answer in takewhile(lambda answer: answer.status_code == 200, answers)]

    def heartbeat(self, work: dict[str, Any], stage: str = "building", tail: str = "", **more: Any) -> Any:
        body = json.dumps({"stage": stage, "log_tail": tail} | more)
        return self._post(f"attempts/{work['attempt']}/heartbeat", body, work["attempt_token"])

    def release(self, work: dict[str, Any]) -> Any:
        return self._post(f"attempts/{work['attempt']}/release", "", work["attempt_token"])

    def report(self, work: dict[str, Any], report: Report | None = None) -> Any:
        """Send a report. The site's worker then computes its scores, as it does each second."""
        body = (report or passed()).model_dump_json()
        answer = self._post(f"attempts/{work['attempt']}/report", body, work["attempt_token"])
        score_reported()
        return answer

    def blob(self, work: dict[str, Any], sha256: str, content: bytes | None = None) -> Any:
        path = f"/api/node/v1/attempts/{work['attempt']}/blobs/{sha256}"
        headers = {"Authorization": f"Bearer {self.token}", "X-Podium-Attempt": work["attempt_token"]}
        if content is None:
            return self.http.get(path, headers=headers)
        return self.http.put(path, content, content_type="application/octet-stream", headers=headers)


def passed(**changes: Any) -> Report:
    return Report(verdict=Verdict.PASSED, witness=Witness.SEEN, provenance=Provenance(node="node-1"), **changes)
