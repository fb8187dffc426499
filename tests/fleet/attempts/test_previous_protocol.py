"""A node of the protocol's previous version gets its work in the shape that it reads; an older one is refused."""

from typing import Any

import pytest

from leaderboard.actions.curation.tracks import offer
from leaderboard.actions.curation.verify import verify
from leaderboard.actions.intake.try_solution import try_solution
from leaderboard.actions.submissions.rerun import rerun
from leaderboard.intake.catalogue import catalogue_of
from problems.actions.releases import import_release
from problems.formats.submission import single_solution
from runners.wire.protocol import PROTOCOL_VERSION
from tests.fleet.site import Site, WireNode
from tests.packs import problem, problem_pack

pytestmark = pytest.mark.django_db

FIELDS = {
    "attempt", "attempt_token", "number", "stage", "evaluation", "tenant", "trial", "sizes", "times", "lease_seconds",
    "heartbeat_seconds", "track", "judge_version", "problem", "build_only", "try_withholding", "solution",
    "timing_policy", "profiler", "limits", "artefact", "needs_baseline", "timed_cases", "verifies", "rerun",
}  # fmt: skip
"""All that a node of the previous version reads."""


@pytest.fixture
def site() -> Site:
    return Site.make()


@pytest.fixture
def node(site: Site) -> WireNode:
    return WireNode(version=PROTOCOL_VERSION - 1)


def flags(work: dict[str, Any]) -> set[str]:
    return {name for name in ("trial", "verifies", "rerun", "times", "needs_baseline") if work[name]}


def test_it_is_greeted_and_its_work_has_the_old_fields_only(site: Site, node: WireNode) -> None:
    site.submit({"a/1": ["exit 0"], "a/2": ["exit 0"]})
    assert node.hello().status_code == 200
    work = node.take()
    assert work.keys() == FIELDS
    assert (work["stage"], work["timing_policy"], work["profiler"], work["timed_cases"]) == (
        "both",
        "ranked",
        "none",
        None,
    )
    assert (work["build_only"], work["try_withholding"], work["limits"]["processes"]) == ([], [], 256)
    assert flags(work) == {"times"}
    assert node.report(node.begin(work)).status_code == 200


def test_a_rerun_is_marked(site: Site, node: WireNode) -> None:
    submission = site.submit({"a/1": ["exit 0"], "a/2": ["exit 0"]})
    for work in node.take_up_to(2):
        node.report(work)
    rerun(site.organiser, list(submission.evaluations.all()), "the node's disk was full")
    assert flags(node.take()) == {"times", "rerun"}


def test_a_trial_is_marked_and_names_the_held_out_files(site: Site, node: WireNode) -> None:
    draft = single_solution("a/1", {"solution.sh": "exit 0"}, catalogue_of(site.release)).samples[0]
    try_solution(site.owner, site.release.problems.select_related("release").get(task_id="a/1"), site.track, draft)
    work = node.take()
    assert (flags(work), work["evaluation"], work["build_only"]) == ({"trial"}, None, ["test/t.sh"])


def test_the_reference_of_a_draft_is_timed_and_shows_which_files_runs_do_without(site: Site, node: WireNode) -> None:
    timed = problem("b/1", podium={}, benchmark_command="sh solution.sh")
    release = import_release(problem_pack([timed], release="draft")).release
    offer(site.organiser, release, site.track)
    verify(site.organiser, release, site.track)
    (work,) = (work for work in node.take_up_to(9) if work["verifies"])
    assert {"times", "needs_baseline"} <= flags(work)
    assert (work["build_only"], work["try_withholding"]) == (None, ["test/t.sh"])


@pytest.mark.parametrize("version", [PROTOCOL_VERSION - 2, PROTOCOL_VERSION + 1])
def test_any_other_version_is_told_to_update(site: Site, version: int) -> None:
    stranger = WireNode(version=version)
    for answer in (stranger.hello(), stranger.claim()):
        assert answer.status_code == 426
        told = answer.json()
        assert told["code"] == "protocol_version"
        served = f"{PROTOCOL_VERSION - 1} and {PROTOCOL_VERSION}"
        assert told["message"] == f"This site speaks protocol {served}, the node {version}. Update the older one."
