"""The site measures the noise that nodes and days share, and speedups have wider intervals by it."""

from datetime import timedelta
from typing import Any

import pytest
from django.core.management import call_command
from django.utils import timezone

from leaderboard.models import Evaluation, ReleaseTrack, Standing
from leaderboard.standings.rank import rank_touched
from leaderboard.standings.reference_noise.shared_noise import measure_shared_noise, measured
from problems.models import Release
from runners.fleet.tasks import measure_noise
from runners.wire.protocol import Report, Role
from tests import factories

pytestmark = pytest.mark.django_db
OF_DAYS = (1.0, 1.06, 0.95, 1.02, 0.98, 1.05)
"""How long everything takes on each of these days."""


def judged(made: Release, entrant: Any, day: int, factor: float) -> None:
    """A submission of which all times of a day are longer by the factor, the baseline's and its own."""

    def report(_one: Evaluation) -> Report:
        given = factories.report(speedup=2.0)
        when = (timezone.now() - timedelta(days=day)).isoformat()
        rows = [_longer(one, factor, when) for one in given.measurements]
        return given.model_copy(update={"measurements": rows})

    factories.judged_submission(entrant, made, factories.offer(made), report)


def _longer(one: Any, factor: float, when: str) -> Any:
    names = ("median_ms", "ci_low_ms", "ci_high_ms")
    key = {"shared": True, "key": when} if one.role == Role.BASELINE else {}
    return one.model_copy(update={name: getattr(one, name) * factor for name in names} | {"measured_at": when} | key)


def board(days: int) -> tuple[Release, ReleaseTrack]:
    made = factories.release(6, primary_metric="speedup")
    for day, factor in enumerate(OF_DAYS[:days]):
        judged(made, factories.EntrantFactory(owner=factories.UserFactory()), day, factor)
    return made, ReleaseTrack.objects.select_related("release", "track").get(release=made)


def test_noise_of_days_is_measured_and_widens_the_intervals_of_speedups() -> None:
    made, place = board(6)
    before = Standing.objects.filter(release=made).order_by("entrant").first()
    assert measured(place) == pytest.approx(0.044, rel=0.35)
    measure_noise()
    place.refresh_from_db()
    assert place.shared_ln_sd == pytest.approx(measured(place))
    assert rank_touched() == 1
    after = Standing.objects.filter(release=made).order_by("entrant").first()
    assert before is not None
    assert after is not None
    assert (after.speedup, after.figure("pass@1")) == (before.speedup, before.figure("pass@1"))
    assert after.figure("speedup")[2] > before.figure("speedup")[2]
    call_command("rebuild_standings", check=True)
    assert measure_shared_noise() == 0, "a second look finds nothing new"


def test_two_days_tell_nothing() -> None:
    _, place = board(2)
    assert measured(place) == 0.0
    assert measure_shared_noise() == 0


def test_a_board_without_times_has_no_noise() -> None:
    made = factories.release(2)
    factories.offer(made)
    assert measured(ReleaseTrack.objects.get(release=made)) == 0.0
