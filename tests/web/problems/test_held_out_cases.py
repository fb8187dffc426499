"""Held-out cases of a function: the board has a figure of their own, and the site tells nothing of the cases."""

import io
import re
import zipfile
from typing import Any

import pytest
from django.core.management import call_command
from django.urls import reverse

from leaderboard.models import Entrant, Standing, Submission, Track
from problems.models import Problem, Release
from problems.spec.kinds import Kind
from runners.wire.protocol import Verdict
from tests import factories, function_site
from tests.api import calls
from tests.function_site import LARGE, SMALL
from tests.markup import markup
from tests.spec.functions import manifest_fields, softmax_case

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]
HELD_OUT, ROWS, COLS = "held-out 1", 777, 4093
SECRETS = [str(ROWS), str(COLS), f"{ROWS * COLS * 5:,}", str(ROWS * COLS * 5)]
"""Lengths and operations of the held-out case, as pages and JSON write numbers."""
BASELINE = {SMALL: 0.01, LARGE: 4.0, HELD_OUT: 6.0}


class Site:
    def __init__(self, cast: Any) -> None:
        secret = softmax_case(ROWS, COLS, name=HELD_OUT)
        function = function_site.function(
            manifest=manifest_fields(cases=[softmax_case(), softmax_case(512, 4096), secret])
        )
        self.cast = cast
        self.release: Release = factories.release(1, problem=lambda _: function, timing_policy="quick")
        self.track: Track = factories.offer(self.release)
        Track.objects.update(peaks={"gbps": 100, "gflops": {"fp32": 1000}})
        self.problem: Problem = self.release.problems.get(kind=Kind.FUNCTION)
        own = {SMALL: 0.005, LARGE: 2.0, HELD_OUT: 12.0}
        self.own = self.judged(cast.entrant, function_site.report(own, BASELINE))

    def judged(self, entrant: Entrant, report: Any) -> Submission:
        return function_site.judged(entrant, self.release, self.track, report)

    def evaluation(self) -> Any:
        return self.own.evaluations.get()

    def addresses(self) -> list[str]:
        """Everything that shows the problem or the result."""
        of_problem = [self.release.slug, self.problem.slug]
        evaluation, track = self.evaluation().pk, f"?track={self.track.slug}"
        return [
            self.evaluation().get_absolute_url(),
            reverse("evaluation_runs", args=[evaluation]),
            self.own.get_absolute_url(),
            reverse("problem", args=of_problem),
            *(reverse(name, args=of_problem) + track for name in ("sizes", "roofline", "runtimes")),
            reverse("processes", args=of_problem) + f"{track}&case={LARGE}",
            reverse("problems", args=[self.release.slug]),
            reverse("board", args=[self.release.slug]) + f"{track}&open=alpha",
            reverse("board_json", args=[self.release.slug]),
            f"/api/v1/evaluations/{evaluation}",
            f"/api/v1/submissions/{self.own.pk}/results.jsonl",
            f"/api/v1/releases/{self.release.slug}/problems/{self.problem.slug}",
        ]


@pytest.fixture
def site(cast: Any) -> Site:
    return Site(cast)


def told(client: Any, address: str) -> str:
    answer = client.get(address)
    assert answer.status_code == 200, address
    return b"".join(answer.streaming_content).decode() if answer.streaming else markup(answer)


@pytest.mark.parametrize("who", ["owner", "stranger"])
def test_neither_its_sizes_nor_its_times_are_shown(client: Any, site: Site, who: str) -> None:
    client.force_login(getattr(site.cast, who))
    for address in site.addresses():
        text = told(client, address)
        assert not [secret for secret in SECRETS if re.search(rf"(?<!\w){secret}(?!\w)", text)], address
        assert HELD_OUT not in text.replace(f'"timed_cases":["{SMALL}","{LARGE}","{HELD_OUT}"]', ""), address


def test_an_organiser_sees_it(client: Any, site: Site) -> None:
    client.force_login(site.cast.organiser)
    assert HELD_OUT in told(client, site.evaluation().get_absolute_url())


def test_the_starter_kit_leaves_it_out(site: Site) -> None:
    answer = calls.get(f"releases/{site.release.slug}/starter-kit.zip", site.cast.owner)
    content = b"".join(answer.streaming_content) if answer.streaming else answer.content
    with zipfile.ZipFile(io.BytesIO(content)) as kit:
        texts = {name: kit.read(name) for name in kit.namelist()}
    assert not [name for name, text in texts.items() if str(COLS).encode() in text or HELD_OUT.encode() in text]


def test_it_ranks_and_has_a_column_of_its_own_with_the_gap(client: Any, site: Site) -> None:
    row = client.get(reverse("board_json", args=[site.release.slug])).json()["rows"][0]
    public = 2.0  # of both public cases
    assert row["held_out_speedup"] == pytest.approx(0.5)
    assert (row["public_speedup"], row["held_out_problems"]) == (pytest.approx(public), 1)
    assert row["correct_speedup"] == pytest.approx((public * public * 0.5) ** (1 / 3)), "all three cases count"
    html = told(client, reverse("board", args=[site.release.slug]))
    assert "Held out" in html
    assert "0.25× of public" in html
    call_command("rebuild_standings", check=True)


def test_rates_are_over_the_public_cases(client: Any, site: Site) -> None:
    """With its time, a rate over all cases would tell the operations of the held-out one."""
    work = (5.0 * 3 * 5 * 5.0 * 512 * 4096) ** 0.5
    standing = Standing.objects.get(entrant=site.cast.entrant)
    assert standing.figure("gflops")[0] == pytest.approx(work / (0.005 * 2.0) ** 0.5 * 1e-6)
    assert site.own.problem_scores.get().best_ms == pytest.approx((0.005 * 2.0) ** 0.5)


def test_the_page_of_a_result_says_how_far_it_generalises(client: Any, site: Site) -> None:
    client.force_login(site.cast.stranger)
    text = told(client, site.evaluation().get_absolute_url())
    assert "Held out: 0.50× over 1 case whose size nobody is told, 2.00× over the public ones: 0.25× of it." in text
    said = calls.get(f"evaluations/{site.evaluation().pk}", site.cast.stranger).json()["result"]
    assert {one["case"] for one in said["measurements"]} == {SMALL, LARGE}
    assert said["held_out"] == {"n_cases": 1, "speedup": 0.5, "public_speedup": 2.0, "gap": 0.25}


def test_the_problem_says_how_many_are_held_out(client: Any, site: Site) -> None:
    text = told(client, reverse("problem", args=[site.release.slug, site.problem.slug]))
    assert "1 more case is held out" in text


def test_a_wrong_answer_in_it_is_told_without_its_figures(client: Any, site: Site) -> None:
    wrong = function_site.report(
        verdict=Verdict.WRONG_ANSWER, reason=f"Case {HELD_OUT}: the answer is wrong.", measurements=[],
        cases=[function_site.right_case(SMALL), function_site.wrong_case(HELD_OUT)],
    )  # fmt: skip
    made = site.judged(factories.EntrantFactory(name="Wrong", slug="wrong", owner=site.cast.owner), wrong)
    client.force_login(site.cast.owner)
    text = told(client, made.evaluations.get().get_absolute_url())
    assert f"Case {HELD_OUT}: the answer is wrong." in text
    assert "of 15 elements" not in text


def test_a_board_without_such_cases_has_no_such_column(client: Any, cast: Any) -> None:
    made = factories.board_of_two(cast)
    assert "Held out" not in told(client, reverse("board", args=[made.slug]))
