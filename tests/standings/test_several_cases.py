"""A result with several cases: one speedup over the primary baseline, one time, and every call that was made."""

from uuid import uuid4

import pytest
from django.test import Client

from leaderboard.actions.submissions.record_result import record_result
from leaderboard.models import Evaluation, Measurement, ProblemScore, ProblemTrack, Result
from leaderboard.models.submissions.evaluation import ResultOrigin
from leaderboard.rows.origin import Origin
from leaderboard.standings import rank
from problems.actions import releases
from problems.spec.case import Case
from runners.wire.protocol import Clock, MeasurementReport, Provenance, Report, Role, Verdict, Witness
from tests import factories
from tests.markup import markup

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]

CASES = [Case(name="1k", size=1e3, flops=1e9, bytes=1e6), Case(name="1m", size=1e6, flops=4e9, bytes=4e6)]


@pytest.fixture
def evaluation(cast: factories.Cast) -> Evaluation:
    """An evaluation of a problem with two declared cases."""
    release = factories.release(1, publish=False)
    release.problems.update(cases=[case.model_dump(mode="json") for case in CASES])
    releases.publish(release)
    return factories.submission(cast.entrant, release, factories.offer(release), n_samples=1).evaluations.get()


def measured(role: Role, case: str, median_ms: float, **changes: object) -> MeasurementReport:
    facts = {"clock": Clock.OUTSIDE, "witness": Witness.SEEN} | changes
    return MeasurementReport(role=role, case=case, median_ms=median_ms, runs_ms=[median_ms], **facts)


def recorded(evaluation: Evaluation, *measurements: MeasurementReport) -> Result:
    report = Report(
        verdict=Verdict.PASSED, witness=Witness.SEEN, provenance=Provenance(), measurements=list(measurements)
    )
    return record_result(evaluation, report, Origin(ResultOrigin.FLEET, attempt=uuid4()))


REFERENCE = measured(Role.BASELINE, "1k", 10.0), measured(Role.BASELINE, "1m", 8.0)


def test_the_speedup_is_the_geometric_mean_over_the_cases(evaluation: Evaluation) -> None:
    result = recorded(evaluation, *REFERENCE, measured(Role.CANDIDATE, "1k", 5.0), measured(Role.CANDIDATE, "1m", 1.0))
    assert result.speedup == pytest.approx(4.0)
    score = ProblemScore.objects.get()
    assert score.best_speedup == pytest.approx(4.0)
    assert score.best_ms == pytest.approx(5.0**0.5)
    assert ProblemTrack.objects.get().baseline_median_ms == pytest.approx(80.0**0.5)
    rank.rank_touched()
    assert rank.rebuild(check=True) == []


def test_a_case_whose_time_cannot_rank_counts_one_and_leaves_no_best_time(evaluation: Evaluation) -> None:
    printed = measured(Role.CANDIDATE, "1m", 0.001, clock=Clock.SELF)
    assert recorded(evaluation, *REFERENCE, measured(Role.CANDIDATE, "1k", 2.5), printed).speedup == pytest.approx(2.0)
    assert ProblemScore.objects.get().best_ms is None


def test_speedups_are_over_the_primary_baseline_and_others_are_kept(evaluation: Evaluation) -> None:
    compiled = [
        one.model_copy(update={"baseline": "compiled", "is_primary": False, "median_ms": 1.0}) for one in REFERENCE
    ]
    result = recorded(
        evaluation, *REFERENCE, *compiled, measured(Role.CANDIDATE, "1k", 5.0), measured(Role.CANDIDATE, "1m", 1.0)
    )
    assert result.speedup == pytest.approx(4.0)
    stored = Measurement.objects.filter(role="baseline").values_list("baseline_name", "is_primary").distinct()
    assert set(stored) == {("reference", True), ("compiled", False)}
    held_against = {one.baseline.baseline_name for one in result.measurements.filter(role="candidate")}
    assert held_against == {"reference"}


def test_every_call_of_every_process_is_kept(evaluation: Evaluation) -> None:
    calls_ms = [[1.0, 1.1], [0.9, 1.0]]
    result = recorded(evaluation, measured(Role.CANDIDATE, "1k", 1.0, calls_ms=calls_ms))
    assert result.measurements.get().calls_ms == calls_ms


def test_an_evaluation_shows_each_case_with_its_own_rates(client: Client, evaluation: Evaluation) -> None:
    recorded(evaluation, *REFERENCE, measured(Role.CANDIDATE, "1k", 5.0), measured(Role.CANDIDATE, "1m", 1.0))
    client.force_login(evaluation.submission.submitted_by)
    text = markup(client.get(evaluation.get_absolute_url()))
    assert '<td class="one-line">1k</td><td class="num">5.000 ms</td>' in text
    # 1e9 operations in 5 ms and 4e9 in 1 ms
    assert '<td class="num">200</td>' in text
    assert '<td class="num">4,000</td>' in text
