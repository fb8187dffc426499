"""Grades single replies on a site: each becomes a submission of typed code that is not counted."""

import time
from collections.abc import Callable
from typing import Any, TypeVar

from podium.generation.problems import of_site
from podium.generation.replies import solution_of
from podium.remote.api_client import ApiClient, ApiRefused
from podium.remote.site_config import load
from podium.verifiers.rulings import JudgingFault, Ruling, ruling, without_files

POLL_SECONDS = 0.5
PATIENCE_SECONDS = 3600.0
"""Longest wait for a verdict. The submission goes on without us."""
T = TypeVar("T")


class SiteJudge:
    """Submits for one entrant on one track."""

    def __init__(self, release: str, entrant: str, track: str, workers: int) -> None:
        """Raises CannotGenerate, NotConfigured."""
        found = of_site(release)
        found.check_told()
        self.asked = {one.task_id: one for one in found.asked}
        self.workers = workers
        self._site = load()
        self._order = {"release": release, "entrant": entrant, "tracks": [track], "counted": False, "note": "rollout"}

    def rule(self, task_id: str, reply: str, finish_reason: str) -> Ruling:
        """Raises JudgingFault."""
        solution = solution_of(self.asked[task_id], reply, finish_reason, "")
        if not solution.files:
            return without_files(solution)
        files = [{"path": file.path, "content": file.content} for file in solution.files]
        try:
            row = self._graded({**self._order, "task_id": task_id, "files": files})
        except (ApiRefused, ValueError) as refused:
            raise JudgingFault(f"the site gave no verdict: {refused}") from refused
        return ruling(row["verdict"], row["reason"], row["flags"])

    def _graded(self, order: dict[str, Any]) -> dict[str, Any]:
        api, until = ApiClient(self._site), time.monotonic() + PATIENCE_SECONDS
        number = _patiently(until, lambda: api.post("submissions", order))[1]["id"]
        while (state := _patiently(until, lambda: api.get(f"submissions/{number}/progress"))["state"]) == "accepted":
            if time.monotonic() > until:
                raise JudgingFault(f"submission #{number} was not graded within {PATIENCE_SECONDS:.0f} seconds")
            time.sleep(POLL_SECONDS)
        rows = _patiently(until, lambda: list(api.lines(f"submissions/{number}/results.jsonl")))
        if state != "done" or not rows:
            raise JudgingFault(f"submission #{number} is {state} and has {len(rows)} results")
        return rows[0]


def _patiently(until: float, call: Callable[[], T]) -> T:
    """The call's result. Tries again while the site is away or limits requests. Sending twice is harmless."""
    while True:
        try:
            return call()
        except ApiRefused as refused:
            again = refused.status >= 500 or refused.code in {"unreachable", "throttled"}
            if not again or time.monotonic() > until:
                raise
            time.sleep(POLL_SECONDS)
