"""A client of PMPP and what it meets: tokens, a node's report, and a wait that is the node's work."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from django.test import Client
from django.utils import timezone

from leaderboard.actions.intake.pmpp_runs import NewToken, issue_token
from leaderboard.models import PmppRun, PmppToken
from leaderboard.pmpp.waiting import Waiting, ended_runs
from runners.wire.protocol import LogText, Provenance, Report, StepReport, Verdict
from tests.fleet.site import Site

TESTS = [{"path": "test/t.sh", "content": "held-out words"}]
REFERENCE = {"baseline_solution": {
    "schema_version": 1, "type": "file", "task_id": "pmpp/ch02-add",
    "files": [{"path": "solution.sh", "content": "exit 0 # reference words"}],
}}  # fmt: skip
PODIUM = {"build_only": [], "starter": [{"path": "solution.sh", "content": "# your code\n"}]}


def report(verdict: Verdict = Verdict.PASSED, reason: str = "", **changes: Any) -> Report:
    """A node's report whose logs quote what is held out."""
    failed = verdict is Verdict.TEST_FAILED
    steps = [
        StepReport(name="build", exit_code=0, wall_ms=12.0, log=LogText(text="built words")),
        StepReport(name="test", exit_code=int(failed), wall_ms=3.0, log=LogText(text="held-out test words")),
    ]
    return Report(verdict=verdict, reason=reason, provenance=Provenance(), **({"steps": steps} | changes))


class NodeWorks(Waiting):
    """Waits by letting the node work; nothing happens in a thread or takes time."""

    def __init__(self, work: Callable[[], None]) -> None:
        super().__init__(places=2)
        self.work = work
        self.seconds: list[float] = []

    def wait(self, run_id: int, seconds: float) -> PmppRun | None:
        self.seconds.append(seconds)
        self.work()
        return ended_runs([run_id]).get(run_id)


@dataclass
class Caller:
    """PMPP's client, as far as the server sees it."""

    secret: str
    http: Client = field(default_factory=Client)

    def get(self, route: str) -> Any:
        return self.http.get(f"/compat/pmpp/{self.secret}/{route}")

    def post(self, route: str, body: Any) -> Any:
        text = body if isinstance(body, str) else json.dumps(body)
        return self.http.post(f"/compat/pmpp/{self.secret}/{route}", text, content_type="application/json")

    def evaluate(self, code: str = "exit 0", **changes: Any) -> Any:
        said = {
            "task_dir": "ch02-add", "student_file": "student_kernel.cu", "code": code,
            "student_targets": ["test_student"], "timeout_sec": 180,
        }  # fmt: skip
        return self.post("evaluate", said | changes)


def token_for(site: Site, user: Any = None, **changes: Any) -> tuple[PmppToken, str]:
    asked = {
        "entrant": site.entrant, "release": site.release, "track": site.track, "name": "training",
        "daily_runs": 100, "expires_at": timezone.now() + timedelta(days=1),
    }  # fmt: skip
    return issue_token(user or site.owner, NewToken(**(asked | changes)))
