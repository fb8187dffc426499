"""Submits a release's own solutions as baseline entrants: nodes measure them like any other."""

from collections.abc import Mapping, Sequence
from typing import Any

from leaderboard.entrants.entrant_rules import slug_of
from leaderboard.errors import Conflict, NotAllowed, Refused
from leaderboard.intake.submission_rules import check_is_open, check_tracks
from leaderboard.models import Entrant, Submission, Track
from leaderboard.models.audit import record
from leaderboard.models.entrants.entrant import EntrantKind
from leaderboard.rows.store_once import store_once
from leaderboard.rows.submissions import SubmissionMetadata, site_identity_of
from problems.formats.submission import IncomingSample, IncomingSubmission
from problems.models import Release
from problems.spec.record import REFERENCE, ProblemRecord
from problems.spec.solution import FileSolution

ENTRANTS: Mapping[str, str] = {
    REFERENCE: "Baseline: reference",
    "compiled": "Baseline: torch.compile",
    "expert": "Baseline: expert",
}
"""Name of the entrant of each baseline. Only organisers may read its solutions: they quote the problems."""


def submit_baselines(user: Any, release: Release, track: Track) -> list[Submission]:
    """Queue every problem's baselines, one submission for each name. A repetition returns the same submissions.

    Checks that the user is an organiser and that the release is open and offered on the track. `user` None is the
    site's own shell. Raises NotAllowed, Conflict, or Refused if no problem has a baseline.
    """
    if user is not None and not getattr(user, "is_staff", False):
        raise NotAllowed("organisers_only", "Only an organiser submits a release's baselines.")
    check_is_open(release)
    check_tracks(release, [track])
    specs = [problem.spec for problem in release.problems.select_related("release")]
    submissions = {name: _incoming(name, specs) for name in ENTRANTS}
    entrants = {name: _entrant(ENTRANTS[name]) for name, incoming in submissions.items() if incoming.samples}
    made = [_submit(user, release, track, entrant, submissions[name]) for name, entrant in entrants.items()]
    if not made:
        raise Refused("no_baselines", f"No problem of {release.slug} has a baseline of its own.")
    record(user, "submit baselines", release, track=track.slug, submissions=[one.pk for one in made])
    return made


def _submit(user: Any, release: Release, track: Track, entrant: Entrant, incoming: IncomingSubmission) -> Submission:
    metadata = SubmissionMetadata(entrant, release, [track], through="site")
    return store_once(user, metadata, incoming, site_identity_of(metadata, incoming)).submission


def _entrant(name: str) -> Entrant:
    """Raises Conflict if somebody else's has the name, or if its solutions are public."""
    entrant, _ = Entrant.objects.get_or_create(
        slug=slug_of(name), defaults={"name": name, "kind": EntrantKind.BASELINE}
    )
    if entrant.kind != EntrantKind.BASELINE or entrant.publishes_code:
        words = f"The entrant at {entrant.slug!r} must be a baseline that does not publish its code"
        raise Conflict("other_entrant", f"{words}, because these solutions quote the problems: rename or change it.")
    return entrant


def _incoming(name: str, specs: Sequence[ProblemRecord]) -> IncomingSubmission:
    samples = [_sample(spec, spec.baselines[name]) for spec in specs if name in spec.baselines]
    return IncomingSubmission(name=name, full=True, samples=tuple(samples))


def _sample(spec: ProblemRecord, solution: FileSolution) -> IncomingSample:
    return IncomingSample.unchecked(spec.task_id, 0, solution, spec.rules().language_of(solution.files))
