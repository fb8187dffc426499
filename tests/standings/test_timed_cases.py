"""The cases that are timed on a track are fixed once: by verifying, else by the first baseline that ranks there."""

import importlib
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.db import connection
from django.test import Client
from django.urls import reverse

from leaderboard import migrations
from leaderboard.actions.curation.carry import carry
from leaderboard.actions.curation.tracks import offer
from leaderboard.actions.curation.verify import verify
from leaderboard.actions.rejudging.rejudge import RejudgeScope, start
from leaderboard.models import Evaluation, ProblemScore, ProblemTrack
from leaderboard.standings.rank import rebuild
from problems.actions.releases import import_release, publish
from problems.models import Release
from problems.spec.kinds import Kind
from problems.spec.no_time import NO_TIME
from runners.wire.protocol import Audience, CaseField, Clock, Report
from tests import factories, function_site, packs
from tests.fleet.site import WireNode, add_node
from tests.function_site import LARGE, SMALL
from tests.markup import markup

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]
BOTH = sorted([SMALL, LARGE])
OVER_ONE = function_site.report({LARGE: 1.0}, {LARGE: 4.0})
"""As a node reports that knows nothing of fixed cases, and whose baseline fell below the floor."""


@pytest.fixture
def made() -> Release:
    return function_site.mixed_release()


@pytest.fixture
def track(made: Release) -> Any:
    return factories.offer(made)


def place() -> ProblemTrack:
    return ProblemTrack.objects.get(problem__kind=Kind.FUNCTION, problem__release__previous=None)


def judged(cast: Any, made: Release, track: Any, *answers: Report) -> list[Evaluation]:
    stored = function_site.judged(cast.entrant, made, track, *answers)
    return list(stored.evaluations.filter(problem__kind=Kind.FUNCTION).order_by("sample__index"))


def speedups(evaluations: list[Evaluation]) -> list[float]:
    for one in evaluations:
        one.refresh_from_db()
    return [one.current_result.speedup for one in evaluations if one.current_result]


def test_the_first_baseline_that_ranks_fixes_the_cases_and_later_ones_do_not_unfix_them(
    cast: Any, made: Release, track: Any
) -> None:
    assert place().timed_cases is None
    found = judged(cast, made, track, function_site.report(), OVER_ONE)
    assert place().timed_cases == BOTH
    assert speedups(found) == [pytest.approx(8**0.5), 4.0]
    assert rebuild(check=True) == []


def test_a_baseline_that_does_not_rank_fixes_nothing(cast: Any, made: Release, track: Any) -> None:
    printed = [one.model_copy(update={"clock": Clock.SELF}) for one in function_site.report().measurements]
    judged(cast, made, track, function_site.report(measurements=printed))
    assert place().timed_cases is None


def test_provisional_times_fix_nothing(cast: Any) -> None:
    made = function_site.mixed_release(publish=False)
    Release.objects.filter(pk=made.pk).update(timing_policy="ranked")
    made.refresh_from_db()
    publish(made)
    judged(cast, made, factories.offer(made), function_site.report())
    assert place().timed_cases is None


def test_a_case_beyond_those_that_are_fixed_does_not_count(cast: Any, made: Release, track: Any) -> None:
    first, second = judged(cast, made, track, OVER_ONE, function_site.report())
    assert place().timed_cases == [LARGE]
    assert speedups([first, second]) == [4.0, 4.0]
    assert set(second.current_result.measurements.values_list("case", flat=True)) == {LARGE}
    assert ProblemScore.objects.get(problem__kind=Kind.FUNCTION).best_ms == 1.0


def without_time(case: str) -> Report:
    """Twice as fast as the reference on the small case; the other one has no time, for a reason of the solution's."""
    given = function_site.report({SMALL: 0.005}, {SMALL: 0.01, LARGE: 4.0})
    why = CaseField(name=NO_TIME, value="A call takes more than 1e+09 ms.", audience=Audience.PUBLIC)
    return given.model_copy(update={"cases": [function_site.right_case(SMALL), _with(case, why)]})


def _with(case: str, why: CaseField) -> Any:
    right = function_site.right_case(case)
    return right.model_copy(update={"fields": [*right.fields, why]})


def test_a_case_without_a_time_for_the_solutions_own_reason_counts_one(
    client: Client, cast: Any, made: Release, track: Any
) -> None:
    found = judged(cast, made, track, function_site.report(), without_time(LARGE))
    assert speedups(found)[1] == pytest.approx(2**0.5)
    client.force_login(cast.owner)
    text = markup(client.get(found[1].get_absolute_url()))
    assert "No time: A call takes more than 1e+09 ms." in text
    assert "of 2 cases" not in text


def test_a_result_over_fewer_cases_says_so(client: Client, cast: Any, made: Release, track: Any) -> None:
    _, fewer = judged(cast, made, track, function_site.report(), OVER_ONE)
    page = markup(client.get(reverse("problem", args=[made.slug, place().problem.slug])))
    assert "<br><small>1 of 2 cases</small>" in page
    client.force_login(cast.owner)
    assert "</small> <small>1 of 2 cases</small></dd>" in markup(client.get(fewer.get_absolute_url()))
    facts = client.get(f"/api/v1/evaluations/{fewer.pk}").json()["result"]
    assert (facts["n_speedup_cases"], facts["n_timed_cases"]) == (1, 2)
    whole = client.get(f"/api/v1/evaluations/{fewer.pk - 1}").json()["result"]
    assert (whole["n_speedup_cases"], whole["n_timed_cases"]) in {(2, 2), (None, None)}


def test_a_rejudge_times_the_fixed_cases_and_fixes_none(cast: Any, made: Release, track: Any) -> None:
    add_node("node-1", track, "node-secret")
    judged(cast, made, track, function_site.report())
    ProblemTrack.objects.update(timed_cases=None)
    start(cast.organiser, RejudgeScope(made), "A harness was mended.")
    node = WireNode()
    for work in node.take_up_to(2):
        assert work["rules"]["timed_cases"] is None
        node.report(work, function_site.report() if work["problem"]["kind"] == "function" else factories.report())
    assert place().timed_cases is None


def verified(draft: Release, track: Any, reference: Report) -> list[list[str] | None]:
    """Verify with this report on the function's reference; the cases that the node was told to time for it."""
    verify(None, draft, track)
    node, told = WireNode(), []
    while (answer := node.claim()).status_code == 200:
        work = answer.json()
        is_reference = work["rules"]["purpose"] == "verify" and work["problem"]["kind"] == "function"
        told += [work["rules"]["timed_cases"]] if is_reference else []
        node.report(work, reference if is_reference else function_site.wrong_report())
    return told


@pytest.fixture
def draft() -> Release:
    return function_site.mixed_release(publish=False)


@pytest.fixture
def offered(draft: Release) -> Any:
    track = factories.offer(draft)
    add_node("node-1", track, "node-secret")
    return track


def test_verifying_fixes_the_cases_and_every_later_node_is_told_them(cast: Any, draft: Release, offered: Any) -> None:
    assert verified(draft, offered, function_site.report()) == [None]
    assert place().timed_cases == BOTH
    publish(draft)
    function_site.submission(cast.entrant, draft, offered)
    node = WireNode()
    works = {work["problem"]["kind"]: work for work in node.take_up_to(2)}
    assert works["function"]["rules"]["timed_cases"] == BOTH


def test_verifying_a_draft_anew_decides_anew(cast: Any, draft: Release, offered: Any) -> None:
    ProblemTrack.objects.update(timed_cases=[LARGE])
    assert verified(draft, offered, function_site.report()) == [None]
    assert place().timed_cases == BOTH


def test_verifying_a_published_release_changes_no_fixed_cases(cast: Any, draft: Release, offered: Any) -> None:
    ProblemTrack.objects.update(timed_cases=[LARGE])
    publish(draft)
    assert verified(draft, offered, function_site.report()) == [[LARGE]]
    assert place().timed_cases == [LARGE]


def revision(cast: Any, track: Any) -> Release:
    """The same problems in other words."""
    lines = [function_site.function("row-softmax", prompt="Said better."), factories.example_problem(0)]
    made = import_release(packs.problem_pack(lines, "mixed-1")).release
    Release.objects.filter(pk=made.pk).update(timing_policy="quick")
    made.refresh_from_db()
    offer(cast.organiser, made, track)
    return made


def carried(cast: Any, new: Release) -> Evaluation:
    [stored] = carry(cast.organiser, new)
    return stored.evaluations.get(problem__kind=Kind.FUNCTION)


def test_a_carried_result_brings_its_fixed_cases_along(cast: Any, made: Release, track: Any) -> None:
    judged(cast, made, track, OVER_ONE)
    new = revision(cast, track)
    publish(new)
    assert carried(cast, new).state == "done"
    assert ProblemTrack.objects.get(problem__release=new, problem__kind=Kind.FUNCTION).timed_cases == [LARGE]


@pytest.mark.parametrize(("answer", "state"), [(OVER_ONE, "queued"), (function_site.wrong_report(), "done")])
def test_times_over_other_cases_are_not_carried(
    cast: Any, made: Release, track: Any, answer: Report, state: str
) -> None:
    judged(cast, made, track, OVER_ONE, answer)
    new = revision(cast, track)
    ProblemTrack.objects.filter(problem__release=new, problem__kind=Kind.FUNCTION).update(timed_cases=BOTH)
    publish(new)
    [stored] = carry(cast.organiser, new)
    assert stored.evaluations.get(problem__kind=Kind.FUNCTION, sample__index=1).state == state


def test_the_migration_takes_the_cases_of_the_first_baseline_and_changes_no_score(
    cast: Any, made: Release, track: Any
) -> None:
    found = judged(cast, made, track, function_site.report(), OVER_ONE)
    before, scores = speedups(found), list(ProblemScore.objects.order_by("pk").values())
    ProblemTrack.objects.update(timed_cases=None)
    assert rebuild(check=True) == []
    [path] = Path(migrations.__path__[0]).glob("*_timed_cases.py")
    importlib.import_module(f"leaderboard.migrations.{path.stem}").fix_by_first_baseline(
        apps, connection.schema_editor()
    )
    assert place().timed_cases == BOTH
    assert rebuild(check=True) == []
    assert (speedups(found), list(ProblemScore.objects.order_by("pk").values())) == (before, scores)
