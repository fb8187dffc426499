"""Function problems from draft to board: the site, the judges and the sandbox are real; there is no broker."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.urls import reverse

from leaderboard.actions.curation.verify import verify
from leaderboard.curation.verification import missing_lines, verification_report
from leaderboard.models import Evaluation, ProblemScore
from leaderboard.standings import rank
from problems.actions.releases import import_release, publish
from problems.models import Release
from problems.spec.kinds import Kind
from runners.agent.grading import Grader
from runners.agent.link.client import SiteClient
from runners.agent.link.problem_store import ProblemStore
from runners.wire.job import Work
from tests import factories, function_site, packs
from tests.agent.machine import Machine, temporary_folder
from tests.factories import Cast
from tests.fleet.site import NODE_TOKEN, WireNode, add_node
from tests.formats.functions.definitions import SOFTMAX
from tests.spec.functions import manifest_fields, softmax_case

pytestmark = pytest.mark.django_db(transaction=True)

SMALL, LARGE = "3 x 5", "1024 x 1024"
RIGHT = """\
#include <cmath>
#include <cstddef>

extern "C" void solution(const float* x, float* y, size_t rows, size_t cols) {
    for (size_t r = 0; r < rows; ++r) {
        float top = x[r * cols];
        for (size_t c = 1; c < cols; ++c) top = std::fmax(top, x[r * cols + c]);
        float sum = 0;
        for (size_t c = 0; c < cols; ++c) sum += y[r * cols + c] = std::exp(x[r * cols + c] - top);
        for (size_t c = 0; c < cols; ++c) y[r * cols + c] /= sum;
    }
}
"""
PYTHON = """\
import numpy as np


def solution(x, y, rows, cols):
    np.exp(x - x.max(axis=1, keepdims=True), out=y)
    y /= y.sum(axis=1, keepdims=True)
"""


def softmax() -> dict[str, Any]:
    return function_site.function(
        definition={
            "path": "def.py",
            "content": SOFTMAX.replace('"40 x 30", size=1200, rows=40, cols=30', f'"{LARGE}", rows=1024, cols=1024'),
        },
        manifest=manifest_fields(cases=[softmax_case(), softmax_case(1024, 1024)]),
        baseline_solution=function_site.solution(text=PYTHON, path="solution.py"),
    )


def shell() -> dict[str, Any]:
    """A command problem that a script without a word fails."""
    says = "sh solution.sh | grep -q done"
    return packs.problem("a/1", test_command=says, baseline_solution=packs.solution("a/1", "echo done"))


@pytest.fixture
def machine() -> Iterator[Machine]:
    with temporary_folder() as folder:
        made = Machine(Path(folder))
        yield made
        made.environment.close()


def work_off(machine: Machine, url: str, folder: Path) -> None:
    """Judge all that is queued and report it, as a node does."""
    grader = Grader(SiteClient(url, NODE_TOKEN), machine.judges, ProblemStore(folder))
    node = WireNode()
    while (answer := node.claim()).status_code == 200:
        work = answer.json()
        finished = machine.judges.judge(grader.job(Work.model_validate(work)))
        for sha256, content in finished.blobs.items():
            assert node.blob(work, sha256, content).status_code in (200, 201, 204)
        assert node.report(work, finished.report).status_code == 200


@pytest.mark.rest
def test_functions_from_draft_to_board(
    cast: Cast, client: Any, live_server: Any, machine: Machine, tmp_path: Path
) -> None:
    pack = packs.problem_pack([softmax(), shell()], "mixed-1", timing_policy="quick")
    draft = import_release(pack).release
    track = factories.offer(draft)
    add_node("node-1", track, NODE_TOKEN)

    verify(None, draft, track)
    work_off(machine, live_server.url, tmp_path)
    assert missing_lines(draft) == [], verification_report(draft, track).lines
    publish(draft)
    Release.objects.filter(pk=draft.pk).update(is_public=True)

    headers = {"Authorization": f"Bearer {factories.token(cast.owner)}"}
    order = {"release": draft.slug, "entrant": "alpha", "tracks": [track.slug], "task_id": "row-softmax"}
    for path, content in (("solution.cpp", RIGHT), ("solution.py", function_site.PYTHON)):
        body = json.dumps(order | {"files": [{"path": path, "content": content}]})
        sent = client.post("/api/v1/submissions", body, content_type="application/json", headers=headers)
        assert sent.status_code == 201, sent.content
    work_off(machine, live_server.url, tmp_path)
    rank.rank_touched()

    right, wrong = Evaluation.objects.filter(submission__entrant=cast.entrant).order_by("pk")
    assert (right.current_result.verdict, wrong.current_result.verdict) == ("passed", "wrong_answer")
    cases = {one.case: one for one in right.current_result.measurements.filter(role="candidate")}
    assert cases[LARGE].ranks
    assert cases[LARGE].baseline.median_ms > 0
    assert right.current_result.speedup > 0
    score = ProblemScore.objects.get(submission=right.submission)
    assert (score.n_passed, score.best_evaluation_id) == (1, right.pk)

    text = client.get(reverse("problem", args=[draft.slug, "row-softmax"]), {"case": LARGE}).content.decode()
    assert ">Alpha<" in text
    client.force_login(cast.owner)
    assert "First wrong places" in client.get(wrong.get_absolute_url()).content.decode()
    assert Evaluation.objects.filter(problem__kind=Kind.FUNCTION, state="queued").count() == 0
