"""Verify a release on a track: its references must pass, empty solutions must fail, known-bad ones fail as said.

Each is a submission by a hidden system entrant, graded by a node like any other, never in standings.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from leaderboard.actions.errors import NotAllowed, Refused
from leaderboard.actions.submit import Order, submit
from leaderboard.models import Entrant, Evaluation, EvaluationState, Submission, Track
from leaderboard.models.audit import record
from leaderboard.models.entrant import EntrantKind
from problems.formats.submission import SampleDraft, SubmissionDraft
from problems.models import Release
from problems.spec.problem import CommandProblem
from problems.spec.solution import FileSolution, SourceFile
from runners.protocol import Verdict

REFERENCE, EMPTY, KNOWN_BAD = "_reference", "_empty", "_known-bad"
"""Slugs and names of the system entrants; nobody else's begins with an underscore."""
_TITLES = {REFERENCE: "Reference solutions", EMPTY: "Empty solutions", KNOWN_BAD: "Known-bad solutions"}
VERIFY_PRIORITY = 5

Solutions = Iterator[tuple[str, int, FileSolution]]


@dataclass
class VerificationReport:
    """What verifying showed so far: a line per problem that is not as it should be, and a summary line per check."""

    lines: list[str] = field(default_factory=list)
    passed: bool = True
    pending: int = 0


def verify(user: Any, release: Release, track: Track) -> list[Submission]:
    """Queue the three checks; the same release and track again gives the same submissions. Organisers only."""
    if not getattr(user, "is_staff", False):
        raise NotAllowed("organisers_only", "Only an organiser verifies a release.")
    specs = [problem.spec for problem in release.problems.select_related("release")]
    drafts = {slug: _draft(slug, specs) for slug in _TITLES}
    made = [_submit(user, release, track, slug, draft) for slug, draft in drafts.items() if draft.samples]
    if not made:
        raise Refused("nothing_to_verify", f"No problem of {release.slug} has a reference or a known-bad solution.")
    record(user, "verify", release, track=track.slug, submissions=[one.pk for one in made])
    return made


def _submit(user: Any, release: Release, track: Track, slug: str, draft: SubmissionDraft) -> Submission:
    entrant, _ = Entrant.objects.get_or_create(slug=slug, kind=EntrantKind.SYSTEM, defaults={"name": slug})
    order = Order(entrant, release, [track], through="site", priority=VERIFY_PRIORITY, verifies=True)
    return submit(user, order, draft).submission


def _draft(slug: str, specs: Sequence[CommandProblem]) -> SubmissionDraft:
    solutions = {REFERENCE: _references, EMPTY: _empties, KNOWN_BAD: _known_bad}[slug](specs)
    samples = [_sample(task_id, index, solution.to_line()) for task_id, index, solution in solutions]
    return SubmissionDraft(name=slug, full=False, samples=tuple(samples))


def _sample(task_id: str, index: int, record: bytes) -> SampleDraft:
    """Not judged like a contestant's: known-bad solutions may try what is refused elsewhere."""
    return SampleDraft(task_id, index, 0, record, hashlib.sha256(record).hexdigest())


def _references(specs: Sequence[CommandProblem]) -> Solutions:
    for spec in specs:
        if isinstance(spec.baseline_solution, FileSolution):
            yield spec.task_id, 0, spec.baseline_solution


def _empties(specs: Sequence[CommandProblem]) -> Solutions:
    """The reference's files with nothing in them."""
    for spec in specs:
        if isinstance(spec.baseline_solution, FileSolution):
            files = [SourceFile(path=file.path, content="") for file in spec.baseline_solution.files]
            yield spec.task_id, 0, FileSolution(task_id=spec.task_id, files=files)


def _known_bad(specs: Sequence[CommandProblem]) -> Solutions:
    for spec in specs:
        for index, bad in enumerate(spec.podium.known_bad):
            yield spec.task_id, index, FileSolution(task_id=spec.task_id, files=bad.files)


def verification_report(release: Release, track: Track) -> VerificationReport:
    """Compare what came of the checks with what must."""
    report = VerificationReport()
    for slug, title in _TITLES.items():
        evaluations = list(_latest(release, track, slug))
        wrong = [line for one in evaluations if (line := _wrong(slug, one))]
        pending = sum(one.state != EvaluationState.DONE for one in evaluations)
        report.lines.append(
            f"{title}: {len(evaluations) - len(wrong) - pending} as expected, {len(wrong)} not, {pending} to come"
        )
        report.lines += wrong
        report.pending += pending
        report.passed &= not wrong and not pending and (bool(evaluations) or slug == KNOWN_BAD)
    return report


def _latest(release: Release, track: Track, slug: str) -> Iterator[Evaluation]:
    submission = Submission.objects.filter(release=release, tracks=track, entrant__slug=slug).order_by("-id").first()
    if submission:
        yield from submission.evaluations.filter(track=track).select_related(
            "problem__release", "current_result", "sample"
        )


def _wrong(slug: str, evaluation: Evaluation) -> str:
    result = evaluation.current_result
    if evaluation.state != EvaluationState.DONE or result is None or result.verdict == Verdict.SKIPPED:
        return ""
    expected = _expected(slug, evaluation)
    right = result.verdict != Verdict.PASSED if expected is None else result.verdict == expected
    if right and result.verdict != Verdict.PLATFORM_ERROR:
        return ""
    wanted = "anything but passed" if expected is None else f"{expected}"
    who = f"{evaluation.problem.task_id}: {slug.lstrip('_')}"
    return f"  {who} is {result.verdict}, expected {wanted}. {result.reason[:200]}"


def _expected(slug: str, evaluation: Evaluation) -> str | None:
    if slug == REFERENCE:
        return Verdict.PASSED
    if slug == EMPTY:
        return None
    return str(evaluation.problem.spec.podium.known_bad[evaluation.sample.index].expect)
