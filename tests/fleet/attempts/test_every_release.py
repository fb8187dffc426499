"""Every release that the importer and the check before publication accept can be claimed, graded, ranked and shown."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import transaction
from django.test import Client
from django.utils import timezone
from hypothesis import HealthCheck, Phase, event, given, settings
from hypothesis import strategies as st

from leaderboard.actions.curation import curate
from leaderboard.actions.curation.tracks import offer
from leaderboard.actions.intake.submit import submit
from leaderboard.errors import Refused
from leaderboard.intake.catalogue import catalogue_of
from leaderboard.models import Entrant, Evaluation, ReleaseTrack, Standing, Track
from leaderboard.rows.submissions import SubmissionMetadata
from leaderboard.standings.rank import rank_touched
from problems.actions.releases import ReleaseRefused, import_release
from problems.formats.errors import PackRefused
from problems.formats.submission import read_submission
from problems.models import Release
from runners.wire.protocol import Clock, MeasurementReport, Provenance, Report, Role, Verdict, Witness
from tests.fleet.site import NODE_TOKEN, WireNode, add_node
from tests.packs import problem, problem_pack, solution, solution_pack

GROUPS = ["shell", "sums", "*"]
METRICS = ["sol_score", "roofline", "gflops", "weighted", "questions", "coding", "speedup"]
METRICS += ["pass@100", "pass@3", "pass@1"]
WORDS = st.text(st.characters(codec="utf-8"), max_size=12)
WORK = st.floats(min_value=1, max_value=1e24)
PODIUM = st.fixed_dictionaries({"build_only": st.just([])}, optional={"title": WORDS, "flops": WORK, "bytes": WORK})
UNTIMED = {"podium": PODIUM, "group": st.sampled_from(GROUPS)}
TIMED = UNTIMED | {"benchmark_command": st.just("sh solution.sh")}
ODD = {
    "type": st.sampled_from(["python", "cuda_cpp"]),
    "timing_mode": st.sampled_from([{"type": "custom"}, {"type": "kernels"}]),
    "baseline_solution": st.none(),
}
FULL = TIMED | {"podium": st.fixed_dictionaries({"build_only": st.just([]), "flops": WORK, "bytes": WORK})}
PROBLEM = st.one_of(
    st.fixed_dictionaries(FULL), st.fixed_dictionaries(UNTIMED), st.fixed_dictionaries(TIMED, optional=ODD)
)
RANKING = {
    "primary_metric": st.sampled_from(METRICS),
    "ks": st.lists(st.integers(1, 100), max_size=3, unique=True),
    "timing_policy": st.sampled_from(["", "quick", "ranked"]),
    "weights": st.one_of(st.fixed_dictionaries({group: st.floats(1e-6, 1e6) for group in GROUPS}), st.just({})),
}
FLAWS = st.sampled_from(
    [{}] * 12
    + [{"primary_metric": "pass@0"}, {"ks": [0, "x"]}, {"timing_policy": "slow"}, {"title": "x" * 250},
       {"weights": {"none": 1.0}}, {"weights": {"shell": 0}}]
)  # fmt: skip
PEAKS = st.sampled_from([{"gbps": 40.0, "gflops": {"fp32": 900.0}}, {}, {"gbps": 1e-3, "gflops": {"fp32": 1e12}}])
TIMES = st.floats(min_value=1e-6, max_value=1e9)
VERDICTS = st.sampled_from([Verdict.PASSED, Verdict.PASSED, Verdict.TEST_FAILED, Verdict.PLATFORM_ERROR])


def accepted(data: st.DataObject, track: Track, organiser: User) -> Release | None:
    """A release that was imported, offered and published; None where it was refused in words."""
    name = data.draw(st.sampled_from(["test-1", "test-1", "***", "\u00dc 1"]) | WORDS, "name")
    problems = [problem(f"a/{n}", **one) for n, one in enumerate(data.draw(st.lists(PROBLEM, min_size=1, max_size=3)))]
    metadata = data.draw(st.fixed_dictionaries(RANKING, optional={"title": WORDS}), "metadata") | data.draw(FLAWS)
    groups = {one["group"] for one in problems}
    metadata["weights"] = {name: weight for name, weight in metadata["weights"].items() if name in groups | {"none"}}
    try:
        pack = problem_pack(problems, name, **metadata)
        release = import_release(pack).release
        offer(organiser, release, track)
        curate.publish(organiser, release, "drawn by a test")
        curate.make_public(organiser, release)
    except (PackRefused, ReleaseRefused, Refused) as refused:
        event(f"refused: {type(refused).__name__}")
        return None
    event(f"ranked by {release.primary_metric}")
    return release


def submitted(release: Release, track: Track, owner: User, n_samples: int) -> None:
    name = f"model-{Entrant.objects.count()}"
    entrant = Entrant.objects.create(slug=name, name=name, owner=owner)
    task_ids = release.problems.values_list("task_id", flat=True)
    lines = [solution(task_id, f"exit 0 # {n}") for task_id in task_ids for n in range(n_samples)]
    file = solution_pack(lines, release.datapack_release)
    draft = read_submission(file, "pack-solutions.tar.gz", catalogue_of(release))
    submit(owner, SubmissionMetadata(entrant, release, [track]), draft)


def graded(data: st.DataObject, node: WireNode) -> None:
    """Claim and report until the site has no more work."""
    while (answer := node.claim()).status_code == 200:
        assert node.report(answer.json(), _report(data)).status_code == 200


def _report(data: st.DataObject) -> Report:
    verdict = data.draw(VERDICTS)
    times = zip(Role, data.draw(st.tuples(TIMES, TIMES)), strict=True) if verdict is Verdict.PASSED else ()
    rows = [
        MeasurementReport(role=role, median_ms=ms, runs_ms=[ms], clock=Clock.OUTSIDE, witness=Witness.SEEN)
        for role, ms in times
    ]
    return Report(verdict=verdict, witness=Witness.SEEN, measurements=rows, provenance=Provenance(node="node-1"))


def pages_of(release: Release) -> list[str]:
    web, api = f"/releases/{release.slug}/", f"/api/v1/releases/{release.slug}"
    first = release.problems.order_by("position")[0].slug
    parts = ["", "?group=*", "charts/", "charts/pass-vs-speedup.json", "problems/", f"problems/{first}/", "about/",
             "submissions/", "board.csv", "board.json"]  # fmt: skip
    return ["/", "/releases/", *(web + part for part in parts), api, f"{api}/board", f"{api}/problems"]


@pytest.fixture
def few_draws(settings: Any) -> None:
    """Intervals are no matter here."""
    settings.BOOTSTRAP_DRAWS = 50


@pytest.mark.rest
@pytest.mark.django_db
@pytest.mark.usefixtures("few_draws")
@settings(
    max_examples=15, deadline=None, derandomize=True, phases=[Phase.generate, Phase.shrink],
    suppress_health_check=[HealthCheck.function_scoped_fixture],  # each example's rows are rolled back
)  # fmt: skip
@given(data=st.data())
def test_every_accepted_release_is_claimed_graded_ranked_and_shown(data: st.DataObject) -> None:
    with transaction.atomic():
        owner = User.objects.create_user("owner", is_staff=True)
        track = Track.objects.create(slug="cpu-test", title="CPU", device="cpu", peaks=data.draw(PEAKS, "peaks"))
        add_node("node-1", track, NODE_TOKEN)
        if release := accepted(data, track, owner):
            _goes_all_the_way(data, release, track, owner)
        transaction.set_rollback(True)


def _goes_all_the_way(data: st.DataObject, release: Release, track: Track, owner: User) -> None:
    for n_samples in data.draw(st.lists(st.integers(1, 3), min_size=1, max_size=2), "samples"):
        submitted(release, track, owner, n_samples)
    graded(data, WireNode())
    assert not Evaluation.objects.exclude(state="done").exists()
    assert rank_touched() == 1, ReleaseTrack.objects.get().ranking_error
    assert Standing.objects.count() == Entrant.objects.count()
    anybody = Client()
    pages = pages_of(release)
    assert {page: anybody.get(page).status_code for page in pages} == dict.fromkeys(pages, 200)


@pytest.mark.django_db
def test_a_release_that_is_not_open_is_shown(client: Client) -> None:
    release = import_release(problem_pack([problem("a/1")])).release
    release.opens_at = timezone.now() + timedelta(days=1)
    release.save()
    curate.publish(None, release, "drawn by a test")
    curate.make_public(None, release)
    pages = pages_of(release)
    assert {page: client.get(page).status_code for page in pages} == dict.fromkeys(pages, 200)
