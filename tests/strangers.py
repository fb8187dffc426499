"""A private submission, and the four people who ask for its addresses: nobody, a stranger, its owner, an organiser."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django.utils import timezone

from leaderboard import blobs
from leaderboard.models import ApiToken, Submission, Track
from problems.models import Release
from runners.wire.protocol import BlobRef, Report
from tests import factories

OK, MOVED, NOT_FOUND, NOT_ALLOWED = 200, 302, 404, 405


class Place:
    """A private release with hidden results: a stranger may see nothing of it, an organiser all of it."""

    def __init__(self, cast: factories.Cast, release: Release, stored: Submission) -> None:
        self.cast, self.release, self.stored = cast, release, stored
        self.evaluation = stored.evaluations.order_by("pk").first()
        self.problem = release.problems.order_by("position").first()
        factories.token(cast.owner)
        self.token = ApiToken.objects.get(user=cast.owner)
        self.node = factories.NodeFactory(slug="node-a")

    @classmethod
    def make(cls, cast: factories.Cast) -> "Place":
        """The owner of the submission is invited to the release."""
        factories.worker_at_work()
        hidden_until = timezone.now() + timedelta(days=30)
        made = factories.release(is_public=False, hidden_until=hidden_until, problem=_declaring_its_work)
        made.invited.add(cast.owner)
        track = factories.offer(made)
        Track.objects.filter(pk=track.pk).update(peaks={"gbps": 100.0, "gflops": {"fp32": 1000.0}})
        return cls(cast, made, factories.judged_submission(cast.entrant, made, track, lambda _: _profiled()))

    def statuses(self, client: Any, method: str, path: str) -> tuple[int, int, int, int]:
        """The status for nobody, a stranger, the owner and an organiser, in this order."""
        answers = []
        for user in (None, self.cast.stranger, self.cast.owner, self.cast.organiser):
            client.logout()
            if user:
                client.force_login(user)
            answers.append(getattr(client, method)(path).status_code)
        nobody, stranger, owner, organiser = answers
        return nobody, stranger, owner, organiser


Arguments = Callable[[Place], list[Any]]


def _declaring_its_work(n: int) -> dict[str, Any]:
    fields = factories.example_problem(n)
    fields["metadata"]["podium"]["bytes"] = 1e6
    return fields


def _profiled() -> Report:
    content = b"a profiler's report"
    profile = BlobRef(sha256=blobs.store().put(content), size_bytes=len(content))
    return factories.report().model_copy(update={"profile": profile, "listing": profile})
