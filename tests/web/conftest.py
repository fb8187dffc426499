"""A small site with something on every page, and a real browser to look at it."""

import os
import random
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from leaderboard.actions.intake.pmpp_runs import end_run
from leaderboard.models import Evaluation, PmppRun, PmppToken, Submission, Track
from problems.models import Release
from runners.fleet.models import Attempt, Job, JobState, Node
from runners.wire.protocol import FlagReport, FlagScope, Verdict
from tests import factories
from tests.fleet.gpu_node import golden_runs, gpu_node
from tests.made_once import copied, of_module
from tests.requirements import CHROMIUM
from tests.web.accounts.openid_provider import Provider, configure

SKILL = {"Alpha": 0.9, "Beta large": 0.7, "Gamma": 0.55, "Delta mini": 0.3, "Stranger's model": 0.5}


@dataclass(frozen=True)
class Site:
    """A published release on one track with judged submissions, one in progress, and a node at work."""

    cast: factories.Cast
    release: Release
    track: Track
    judged: Submission
    running: Submission
    node: Node

    @property
    def evaluation(self) -> Evaluation:
        """A judged one that passed and was timed."""
        return self.judged.evaluations.filter(current_result__verdict="passed").order_by("pk").first()

    @property
    def running_evaluation(self) -> Evaluation:
        """The one that the node builds."""
        return self.running.evaluations.get(state="leased")

    @property
    def public_pages(self) -> dict[str, str]:
        """Every page that a stranger may open, by name."""
        slug = self.release.slug
        problem = self.release.problems.order_by("position").first()
        return {
            "home": reverse("home"),
            "releases": reverse("releases"),
            "search": reverse("search", query={"q": "number"}),
            "entrants": reverse("entrants"),
            "board": reverse("board", args=[slug]) + "?group=*",
            "charts": reverse("charts", args=[slug]),
            "problems": reverse("problems", args=[slug]),
            "problem": reverse("problem", args=[slug, problem.slug]),
            "release-submissions": reverse("release_submissions", args=[slug]),
            "changelog": reverse("changelog", args=[slug]),
            "audit": reverse("audit", args=[slug]),
            "coverage": reverse("coverage", args=[slug]),
            "framed-board": reverse("framed_board", args=[slug]),
            "release-about": reverse("release_about", args=[slug]),
            "release-flags": reverse("release_flags", args=[slug]),
            "decisions": reverse("decisions", args=[slug]),
            "compare": reverse("compare", query={"release": slug, "a": "alpha", "b": "gamma", "c": "reference"}),
            "compare-choose": reverse("compare", query={"release": slug}),
            "entrant": self.cast.entrant.get_absolute_url(),
            "submission": self.judged.get_absolute_url(),
            "rollouts": reverse("rollouts", args=[self.judged.pk]),
            "rollout": reverse("rollouts", args=[self.judged.pk], query={"problem": problem.slug}),
            "evaluation": self.evaluation.get_absolute_url(),
            "nodes": reverse("nodes"),
            "node": self.node.get_absolute_url(),
            "gpu-node": reverse("node", args=["gpu-1"]),
            "about": reverse("about"),
            "sign-in": reverse("account_login"),
            "sign-up": reverse("account_signup"),
            "password-reset": reverse("account_reset_password"),
            "not-here": "/nothing-here/",
        }

    @property
    def own_pages(self) -> dict[str, str]:
        """The pages of somebody signed in."""
        slug = self.release.slug
        problem = self.release.problems.order_by("position").first()
        return {
            "submit": reverse("submit"),
            "own-problem": reverse("problem", args=[slug, problem.slug]),
            "own-submission": self.running.get_absolute_url(),
            "own-rollout": reverse("rollouts", args=[self.judged.pk], query={"problem": problem.slug}),
            "own-failures": reverse("submission_failures", args=[self.judged.pk]),
            "own-evaluation": self.evaluation.get_absolute_url(),
            "own-running-evaluation": self.running_evaluation.get_absolute_url(),
            "account": reverse("account"),
            "teams": reverse("teams"),
            "team": reverse("team", args=[self.cast.entrant.team.slug]),
            "tokens": reverse("tokens"),
            "sign-in-methods": reverse("sign_in_methods"),
            "quota": reverse("quota"),
            "account-data": reverse("account_data"),
            "new-entrant": reverse("new_entrant"),
            "edit-entrant": reverse("edit_entrant", args=[self.cast.entrant.slug]),
            "pmpp-addresses": reverse("pmpp_tokens"),
            "pmpp-runs": reverse("pmpp_runs", args=[PmppToken.objects.get(entrant=self.cast.entrant).pk]),
        }


def make_site() -> Site:
    cast = factories.Cast.make()
    made = factories.release(6, "demo-1", ks=[1, 4])
    track = factories.offer(made)
    drawn = random.Random(7)
    entrants = [cast.entrant, cast.strangers_entrant]
    entrants += [
        factories.EntrantFactory(name=name, slug=name.lower().replace(" ", "-"), owner=cast.stranger,
                                 open_weights=name != "Gamma", organisation="Another Lab")
        for name in SKILL if name not in {"Alpha", "Stranger's model"}
    ]  # fmt: skip
    baseline = factories.EntrantFactory(name="Reference", slug="reference", kind="baseline", owner=cast.organiser)
    judged = [_judged(one, made, track, drawn) for one in entrants]
    factories.judged_submission(baseline, made, track, lambda _: factories.report(speedup=1.0), n_samples=1)
    running = factories.submission(cast.entrant, made, track, script="exit 0 # second try", counted=False, n_samples=4)
    drained = "drained: its golden copy took 0.562 ms, +5.9% from its median, for the second time in a row"
    golden_runs(gpu_node(last_drift=0.059, disabled_reason=drained), 60, off=0.059)
    _ask_over_pmpps_routes(cast, made, track)
    return Site(cast, made, track, judged[0], running, _working_node(track, running))


def _ask_over_pmpps_routes(cast: factories.Cast, made: Release, track: Track) -> None:
    """A token with a run of each outcome, one still queued."""
    place = {"user": cast.owner, "entrant": cast.entrant, "release": made, "track": track}
    token = PmppToken.issue(timezone.now() + timedelta(days=9), **place, name="nightly evaluation", daily_runs=5000)[0]
    verdicts = [Verdict.PASSED, Verdict.TEST_FAILED, Verdict.PLATFORM_ERROR, None]
    for n, (verdict, problem) in enumerate(zip(verdicts, made.problems.all(), strict=False)):
        facts = {"problem": problem, "solution_sha256": f"{n:064d}", "solution_bytes": 9, "n_calls": n + 1}
        run = PmppRun.objects.create(token=token, **facts, n_unanswered=n // 2)
        if verdict is not None:
            end_run(run, factories.report(verdict))


def _judged(entrant: Any, made: Release, track: Track, drawn: random.Random) -> Submission:
    skill = SKILL[entrant.name]

    def verdict_of(evaluation: Evaluation) -> Any:
        if drawn.random() < skill:
            flags = [FlagReport(code="clock_disagrees", scope=FlagScope.TIME, detail="Outside time is 3 % longer.")]
            return factories.report(
                speedup=0.6 + skill * 3 * drawn.random(), flags=flags if drawn.random() < 0.06 else []
            )
        return factories.report(drawn.choice([Verdict.TEST_FAILED, Verdict.BUILD_FAILED, Verdict.TIMED_OUT]))

    return factories.judged_submission(entrant, made, track, verdict_of, n_samples=4)


def _working_node(track: Track, running: Submission) -> Node:
    factories.worker_at_work()
    node = factories.NodeFactory(slug="node-a", title="The one under the desk")
    factories.grant(node, track)
    job = Job.objects.filter(evaluation__submission=running).order_by("pk").first()
    Job.objects.filter(pk=job.pk).update(state=JobState.LEASED)
    Evaluation.objects.filter(pk=job.evaluation_id).update(state="leased")
    Attempt.objects.create(job=job, node=node, number=1, token_digest="0" * 64, work_stage="building", log_tail="g++ …")
    return node


made_site = of_module(make_site)
"""A site and its folder of blobs."""


site = copied


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    # playwright keeps an event loop in this thread, in which Django would refuse the database
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()
    del os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"]


@pytest.fixture
def live_site(transactional_db: Any, live_server: Any, settings: Any) -> tuple[Site, str]:
    settings.ALLOWED_HOSTS = ["*"]
    return make_site(), live_server.url


@pytest.fixture
def provider(settings: Any, monkeypatch: Any) -> Iterator[Provider]:
    server = Provider()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    configure(settings, monkeypatch, server.url)
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def far_future() -> datetime:
    return timezone.now() + timedelta(days=30)
