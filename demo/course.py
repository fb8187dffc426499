"""The way of one live release: verified by the node, published, its entrants submitted and graded."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from django.contrib.auth.models import User
from django.db.models import QuerySet
from rich.progress import Progress, TaskID

from demo.client import Client
from demo.entrants import DemoEntrant, solution_pack
from demo.environment import DemoRefused
from demo.seed import ORGANISER
from demo.seed_types import LiveRelease
from leaderboard.actions.curation import curate
from leaderboard.actions.curation.baselines import submit_baselines
from leaderboard.errors import Refused
from leaderboard.models import Evaluation, EvaluationState, Track
from leaderboard.models.entrants.entrant import EntrantKind
from problems.models import QuestionPolicy, Release
from problems.spec.kinds import Kind


@dataclass(eq=False)
class Course:
    """Advanced by `step` until it returns True. The bars show how far each part is."""

    one: LiveRelease
    client: Client
    bars: Progress
    said: list[str] = field(default_factory=list)
    """Lines of events since they were last taken."""
    _steps: Iterator[None] | None = None
    _submissions: dict[str, int] = field(default_factory=dict)

    def step(self) -> bool:
        """Look once and do what is due; True once everything is graded. Raises DemoRefused or ApiRefused."""
        if self._steps is None:
            self._steps = self._way()
        return next(self._steps, self) is self

    def differences(self) -> list[str]:
        """A line for each evaluation that ended otherwise than the demo says."""
        return [
            line
            for entrant in self.one.entrants
            for line in _differences(entrant, self.one, self.client.results(self._submissions[entrant.slug]))
        ]

    def _way(self) -> Iterator[None]:
        release = Release.objects.get(slug=self.one.board.release)
        if release.is_draft:
            yield from self._verified(release)
            self._publish(release)
        tasks = {entrant.slug: self._submit(entrant) for entrant in self.one.entrants}
        while tasks:
            tasks = {slug: task for slug, task in tasks.items() if not self._is_graded(slug, task)}
            yield
        if release.problems.filter(kind=Kind.FUNCTION).exists():
            yield from self._measured_baselines(release)

    def _verified(self, release: Release) -> Iterator[None]:
        """Until the node has judged every solution that verifies the release."""
        rows = Evaluation.objects.filter(submission__entrant__kind=EntrantKind.SYSTEM, submission__release=release)
        yield from self._done(f"Verifying {release.slug}", rows)

    def _done(self, words: str, rows: QuerySet[Evaluation]) -> Iterator[None]:
        task, total = self.bars.add_task(words, total=None, passed=""), rows.count()
        done = -1
        while done < total:
            done = rows.filter(state=EvaluationState.DONE).count()
            self.bars.update(task, total=total, completed=done)
            yield

    def _measured_baselines(self, release: Release) -> Iterator[None]:
        """Until the references are on the board without a rank. They come last: visitors wait for the entrants."""
        track = Track.objects.get(slug=self.one.board.track)
        made = submit_baselines(User.objects.get(username=ORGANISER), release, track)
        yield from self._done(f"Baselines of {release.slug}", Evaluation.objects.filter(submission__in=made))

    def _publish(self, release: Release) -> None:
        organiser = User.objects.get(username=ORGANISER)
        try:
            curate.set_question_policy(organiser, release, QuestionPolicy.PRACTICE.value, None)
            curate.publish(organiser, release)
        except Refused as refused:
            raise DemoRefused(str(refused)) from refused
        self.said.append(
            f"{release.slug} is verified and published: references pass, empty and known-bad solutions fail."
        )

    def _submit(self, entrant: DemoEntrant) -> TaskID:
        pack = solution_pack(entrant, self.one.datapack_release, self.one.task_ids)
        board = self.one.board
        self._submissions[entrant.slug] = self.client.submit(board.release, board.track, entrant.slug, pack)
        return self.bars.add_task(entrant.title, total=None, passed="")

    def _is_graded(self, slug: str, task: TaskID) -> bool:
        progress = self.client.progress(self._submissions[slug])
        passed = (progress["verdicts"] or {}).get("passed", 0)
        self.bars.update(task, total=progress["total"], completed=progress["done"], passed=f"{passed} passed")
        return bool(progress["done"] == progress["total"])


def _differences(entrant: DemoEntrant, one: LiveRelease, rows: Sequence[dict[str, object]]) -> list[str]:
    found = {(row["task_id"], row["sample"]): row["verdict"] for row in rows}
    expected = {(one.task_ids[slug], index): verdict for (slug, index), verdict in entrant.expected.items()}
    return [
        f"{entrant.title}, {task_id}, sample {index}: {found.get((task_id, index), 'nothing')}, expected {verdict}"
        for (task_id, index), verdict in expected.items()
        if found.get((task_id, index)) != verdict
    ]
