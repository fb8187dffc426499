"""Verify a draft on a node; carry results that still hold to the next revision."""

import pytest

from leaderboard.actions.carry import carry
from leaderboard.actions.errors import NotAllowed
from leaderboard.actions.tracks import offer
from leaderboard.actions.verify import verification_report, verify
from leaderboard.models import Counted, Result, Standing
from problems.actions.releases import import_release, publish
from problems.models import Problem, Release
from runners.protocol import Provenance, Report, Verdict, Witness
from tests.fleet.site import Site, WireNode
from tests.packs import problem, problem_pack

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]

KNOWN_BAD = [{"name": "fails", "expect": "test_failed", "files": [{"path": "solution.sh", "content": "exit 3"}]}]


@pytest.fixture
def site() -> Site:
    return Site.make()


def draft(site: Site, **podium: object) -> Release:
    pack = problem_pack([problem("b/1", podium=podium)], release="test-2")
    release = import_release(pack).release
    offer(site.organiser, release, site.track)
    return release


def work_off(verdicts: dict[str, Verdict], **changes: object) -> None:
    """Report each piece of work by its script."""
    node = WireNode()
    while (answer := node.claim()).status_code == 200:
        work = answer.json()["work"][0]
        script = b"".join(node.blob(work, work["solution"]["sha256"]).streaming_content).decode()
        verdict = next(v for text, v in verdicts.items() if text in script)
        node.report(work, Report(verdict=verdict, witness=Witness.SEEN, provenance=Provenance(), **changes))


EXPECTED = {"exit 0": Verdict.PASSED, "exit 3": Verdict.TEST_FAILED, '"content":""': Verdict.TEST_FAILED}


def test_a_release_is_verified_when_the_reference_passes_and_the_rest_fails(site: Site) -> None:
    release = draft(site, build_only=[], known_bad=KNOWN_BAD)
    assert len(verify(site.organiser, release, site.track)) == 3
    assert verification_report(release, site.track).pending == 3
    work_off(EXPECTED)
    report = verification_report(release, site.track)
    assert (report.passed, report.pending) == (True, 0)
    assert not Standing.objects.exists()


def test_an_empty_solution_that_passes_is_named(site: Site) -> None:
    release = draft(site, build_only=[])
    verify(site.organiser, release, site.track)
    work_off(EXPECTED | {'"content":""': Verdict.PASSED})
    report = verification_report(release, site.track)
    assert not report.passed
    assert any("b/1: empty is passed, expected anything but passed" in line for line in report.lines)


def test_verifying_twice_makes_no_second_submission(site: Site) -> None:
    release = draft(site, build_only=[])
    first, second = (verify(site.organiser, release, site.track) for _ in range(2))
    assert first == second


def test_only_organisers_verify(site: Site) -> None:
    with pytest.raises(NotAllowed):
        verify(site.owner, draft(site), site.track)


def test_verifying_settles_which_files_a_run_can_do_without(site: Site) -> None:
    release = draft(site)
    before = Problem.objects.get(release=release)
    assert before.build_only is None
    verify(site.organiser, release, site.track)
    work_off(EXPECTED, withheld=["test/t.sh"])
    after = Problem.objects.get(release=release)
    assert after.build_only == ["test/t.sh"]
    assert after.grading_digest != before.grading_digest


def test_results_that_hold_are_carried_and_the_rest_is_queued(site: Site) -> None:
    old = site.submit({"a/1": ["exit 0"], "a/2": ["exit 0"]})
    work_off(EXPECTED)
    pack = problem_pack([problem("a/1", prompt="Said better."), problem("a/2", timeout_seconds=9.0)])
    release = import_release(pack).release
    offer(site.organiser, release, site.track)
    publish(release)
    (new,) = carry(site.organiser, release)
    assert new.pk != old.pk
    reused = Result.objects.get(evaluation__submission=new)
    assert reused.reused_from == Result.objects.get(evaluation__submission=old, evaluation__problem__task_id="a/1")
    assert reused.evaluation.problem.task_id == "a/1"
    assert new.evaluations.get(problem__task_id="a/2").state == "queued"
    assert Counted.objects.get(release=release).submission == new
    assert carry(site.organiser, release) == [new]
    work_off(EXPECTED)
    new.refresh_from_db()
    assert new.state == "done"
