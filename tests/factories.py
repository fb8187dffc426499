"""The start of most tests: the cast, small releases, and submissions with results recorded by the real actions."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import factory
from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone
from django.utils.text import slugify

from leaderboard.actions.curation import tracks as track_actions
from leaderboard.actions.intake.submit import submit
from leaderboard.intake.catalogue import catalogue_of
from leaderboard.models import (
    ApiToken,
    Entrant,
    Evaluation,
    Membership,
    ReleaseTrack,
    Standing,
    Submission,
    Team,
    Track,
)
from leaderboard.models.entrants.team import TeamRole
from leaderboard.models.submissions.evaluation import ResultOrigin
from leaderboard.rows.origin import Origin
from leaderboard.rows.results import append_result
from leaderboard.rows.submissions import SubmissionMetadata
from leaderboard.standings import rank as ranking
from leaderboard.standings import scores
from problems.actions import releases as release_actions
from problems.formats.submission import read_submission
from problems.models import Release
from runners.fleet.models import Job, JobState, Node, NodeGrant, Pulse
from runners.wire.protocol import (
    Clock,
    FlagReport,
    LogText,
    MeasurementReport,
    Provenance,
    Report,
    Role,
    Stage,
    StepReport,
    Verdict,
    Witness,
)
from tests import packs
from tests.estimates import estimates

PASSWORD = "correct horse battery"


class UserFactory(factory.django.DjangoModelFactory[User]):
    class Meta:
        model = User
        django_get_or_create = ("username",)

    username = factory.Sequence(lambda n: f"user-{n}")
    email = factory.LazyAttribute(lambda user: f"{user.username}@example.org")
    password = factory.django.Password(PASSWORD)


class EntrantFactory(factory.django.DjangoModelFactory[Entrant]):
    class Meta:
        model = Entrant

    name = factory.Sequence(lambda n: f"Model {n}")
    slug = factory.Sequence(lambda n: f"model-{n}")
    organisation = "Example Lab"


class TrackFactory(factory.django.DjangoModelFactory[Track]):
    class Meta:
        model = Track
        django_get_or_create = ("slug",)

    slug = "cpu-test"
    title = "Test CPU"
    device = "cpu"


class NodeFactory(factory.django.DjangoModelFactory[Node]):
    class Meta:
        model = Node

    slug = factory.Sequence(lambda n: f"node-{n}")
    token_digest = factory.Sequence(lambda n: f"{n:064d}")
    last_seen_at = factory.LazyFunction(timezone.now)
    capabilities = factory.LazyFunction(
        lambda: {"cpu_model": "Test CPU", "cpu_cores": 2, "sandbox": "bubblewrap", "toolkits": {"g++": "12.2.0"}}
    )


def team_of(name: str, owner: User, *members: User) -> Team:
    """A team with one owner; the others are members."""
    team = Team.objects.create(name=name, slug=slugify(name))
    Membership.objects.create(team=team, user=owner, role=TeamRole.OWNER)
    for member in members:
        Membership.objects.create(team=team, user=member, role=TeamRole.MEMBER)
    return team


def submitter(entrant: Entrant) -> User | None:
    """Somebody who may submit for the entrant: its owner, or the first owner of its team."""
    if entrant.team is None:
        return entrant.owner
    return entrant.team.memberships.filter(role=TeamRole.OWNER)[0].user


def grant(node: Node, track: Track, stage: Stage = Stage.BOTH) -> NodeGrant:
    return NodeGrant.objects.create(node=node, track=track, stage=stage)


def worker_at_work() -> None:
    """The site's worker is alive for as long as any test lasts."""
    Pulse.objects.bulk_create(Pulse(name=part, at=timezone.now() + timedelta(days=1)) for part in ("worker", "tasks"))


@dataclass(frozen=True)
class Cast:
    """The people of every visibility test; owner and teammate share `entrant`, the stranger has one of his own."""

    owner: User
    teammate: User
    stranger: User
    organiser: User
    entrant: Entrant
    strangers_entrant: Entrant

    @classmethod
    def make(cls) -> "Cast":
        owner, teammate, stranger = (UserFactory(username=name) for name in ("owner", "teammate", "stranger"))
        organiser = UserFactory(username="organiser", is_staff=True, is_superuser=True)
        team = team_of("Alpha's team", owner, teammate)
        entrant = EntrantFactory(name="Alpha", slug="alpha", team=team, open_weights=True, is_verified=True)
        other = EntrantFactory(name="Stranger's model", slug="strangers-model", owner=stranger)
        return cls(owner, teammate, stranger, organiser, entrant, other)


def release(
    n_problems: int = 3,
    name: str = "test-1",
    *,
    is_public: bool = True,
    publish: bool = True,
    ks: Sequence[int] = (1, 2),
    problem: Callable[[int], dict[str, Any]] | None = None,
    **changes: Any,
) -> Release:
    """A release of shell problems in two groups, imported as any pack is; `changes` are set while it is a draft."""
    make = problem or example_problem
    pack = packs.problem_pack([make(n) for n in range(n_problems)], name, ks=list(ks), title=f"Release {name}")
    made = release_actions.import_release(pack).release
    made.is_public = is_public
    for field, value in changes.items():
        setattr(made, field, value)
    made.save()
    if publish:
        release_actions.publish(made)
    return made


def example_problem(n: int, **changes: Any) -> dict[str, Any]:
    """Problem n: even ones of group `strings`, odd ones of group `sums`; each with a visible and a held-out test."""
    podium = {
        "title": f"Problem number {n}",
        "build_only": [],
        "flops": 1e6,
        "visible_tests": ["test/visible.sh"],
        "starter": [{"path": "solution.sh", "content": "exit 1  # your code\n"}],
    }
    fields = {
        "group": "strings" if n % 2 == 0 else "sums",
        "prompt": f"# Task {n}\n\nWrite `solution.sh`; see [the docs](https://example.org).\n\n- fast\n- right",
        "context_files": [{"path": "include/helper.h", "content": "// visible context\n"}],
        "test_files": [
            {"path": "test/t.sh", "content": "sh solution.sh # held-out words\n"},
            {"path": "test/visible.sh", "content": "echo visible test\n"},
        ],
        "benchmark_command": "sh solution.sh",
        "baseline_solution": packs.solution(f"Shell/{n}", "exit 0 # reference words"),
        "podium": podium,
    }
    return packs.problem(f"Shell/{n}", **(fields | changes))


def offer(made: Release, slug: str = "cpu-test") -> Track:
    """Offer the release on a CPU track."""
    track = TrackFactory(slug=slug, title=f"Track {slug}")
    track_actions.offer(None, made, track)
    return track


def submission(
    entrant: Entrant,
    made: Release,
    track: Track,
    *,
    n_samples: int = 2,
    user: Any = None,
    script: str = "exit 0 # solution words",
    counted: bool = True,
    generation: Any = None,
    task_ids: Sequence[str] | None = None,
) -> Submission:
    """A full submission through the real action, everything of it queued; `generation` is declared in its pack. Samples
    of problems that are not among `task_ids` (None: all) are missing."""
    given = made.problems.values_list("task_id", flat=True) if task_ids is None else task_ids
    lines = [packs.solution(task_id, f"{script} {n}") for task_id in given for n in range(n_samples)]
    file = packs.solution_pack(lines, made.datapack_release, generation=generation)
    draft = read_submission(file, "pack-solutions.tar.gz", catalogue_of(made))
    metadata = SubmissionMetadata(entrant=entrant, release=made, tracks=[track], asks_to_count=counted)
    return submit(user or submitter(entrant), metadata, draft).submission


def report(
    verdict: Verdict = Verdict.PASSED,
    speedup: float | None = 2.0,
    *,
    flags: Sequence[FlagReport] = (),
    witness: Witness = Witness.SEEN,
) -> Report:
    """A node's report; a pass is timed against a baseline of 10 ms."""
    passed = verdict is Verdict.PASSED
    timed = passed and speedup is not None
    return Report(
        verdict=verdict,
        reason="" if passed else "first failure words",
        witness=witness,
        steps=[
            StepReport(name="build", exit_code=0, wall_ms=12.0, log=LogText(text="build log words")),
            StepReport(name="test", exit_code=int(not passed), wall_ms=3.0, log=LogText(text="test log words")),
        ],
        measurements=_measurements(10.0 / speedup) if timed and speedup else [],
        flags=list(flags),
        provenance=Provenance(node="node-a", sandbox="bubblewrap", cpu_model="Test CPU", toolkit="g++ 12.2.0"),
    )  # fmt: skip


def _measurements(candidate_ms: float) -> list[MeasurementReport]:
    return [
        MeasurementReport(
            role=role, median_ms=median, ci_low_ms=median * 0.98, ci_high_ms=median * 1.02,
            runs_ms=[median * factor for factor in (0.98, 0.99, 1.0, 1.0, 1.01, 1.02)],
            clock=Clock.OUTSIDE, witness=Witness.SEEN,
        )
        for role, median in ((Role.BASELINE, 10.0), (Role.CANDIDATE, candidate_ms))
    ]  # fmt: skip


Judge = Callable[[Evaluation], Report]


@transaction.atomic
def judge(made: Submission, verdict_of: Judge | None = None) -> None:
    """Record a result for every queued evaluation and close its job, as a node's reports would, but score only once."""
    waiting = Evaluation.objects.filter(submission=made, state="queued")
    queued = list(waiting.select_related("sample", "problem", "track"))
    for evaluation in queued:
        append_result(evaluation, verdict_of(evaluation) if verdict_of else report(), Origin(ResultOrigin.FLEET))
    Job.objects.filter(evaluation__in=queued).update(state=JobState.DONE)
    for track in {evaluation.track for evaluation in queued}:
        scores.rescore(made, track)
    scores.finish_if_done(made)


def judged_submission(
    entrant: Entrant, made: Release, track: Track, verdict_of: Judge | None = None, **more: Any
) -> Submission:
    """Submitted, judged and ranked."""
    stored = submission(entrant, made, track, **more)
    judge(stored, verdict_of)
    rank(made, track)
    stored.refresh_from_db()
    return stored


def board_of_two(cast: "Cast") -> Release:
    """Four problems: the owner's entrant passes all, the stranger's fails the first two. Equal times."""
    made = release(4)
    track = offer(made)
    lost = {"Shell/0", "Shell/1"}
    judged_submission(cast.entrant, made, track)
    judged_submission(
        cast.strangers_entrant,
        made,
        track,
        lambda one: report(Verdict.TEST_FAILED if one.problem.task_id in lost else Verdict.PASSED),
    )
    return made


def rank(made: Release, track: Track) -> None:
    ranking.rank(ReleaseTrack.objects.select_related("release", "track").get(release=made, track=track))


def token(user: User, scopes: Sequence[str] = ("read", "submit"), days: int = 30) -> str:
    """The secret of a new API token."""
    return ApiToken.issue(user, "test", list(scopes), timezone.now() + timedelta(days=days))[1]


def standings(
    made: Release, track: Track, n: int, owner: User | None = None, prefix: str = "entrant"
) -> list[Standing]:
    """Bare standings of n new entrants, for pages whose size matters and whose numbers do not."""
    entrants = [_bare_entrant(prefix, i, owner) for i in range(n)]
    Entrant.objects.bulk_create(entrants)
    submissions = [
        Submission(entrant=one, release=made, is_full=True, name=one.slug, digest="0" * 64, identity=f"{one.slug:0>64}",
                   state="done", n_samples_per_problem=2) for one in entrants
    ]  # fmt: skip
    Submission.objects.bulk_create(submissions)
    return Standing.objects.bulk_create([_standing(made, track, one, i, n) for i, one in enumerate(submissions)])


def _bare_entrant(prefix: str, place: int, owner: User | None) -> Entrant:
    return Entrant(
        name=f"{prefix.title()} {place:04d}",
        slug=f"{prefix}-{place:04d}",
        owner=owner,
        organisation=f"Lab {place % 7}",
        open_weights=bool(place % 2),
        is_verified=place % 3 == 0,
    )


def _standing(made: Release, track: Track, one: Submission, place: int, n: int) -> Standing:
    share = 1 - place / n
    return Standing(
        release=made, track=track, entrant=one.entrant, submission=one, rank=place + 1, rank_low=max(1, place - 1),
        rank_high=min(n, place + 3), primary_value=share, primary_low=share - 0.02, primary_high=share + 0.02,
        estimates=estimates(
            {
                "pass@1": (share, share - 0.02, share + 0.02), "pass@2": (share, share, share),
                "speedup": (1 + share, 1 + share / 2, 1 + share * 1.5), "correct_speedup": 1.1 + share,
                "fast_1": share, "gflops": 10 * (1 + share),
            },
            speedup={"problems": 3}, gflops={"problems": 2},
        ),
        n_solved=int(3 * share), n_problems=3, n_samples=6, fast_p=[share] * 9,
        groups={"strings": {"solved": 1, "problems": 2, "pass_at_1": share}},
    )  # fmt: skip
