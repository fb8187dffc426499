"""Curate releases and tracks: each change writes its audit entry. `user` None is the site's own shell."""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO

from django.db import transaction
from django.utils import timezone

from leaderboard.actions.curation.revisions import carry_errata_over, check_answered
from leaderboard.actions.curation.tracks import no_hardware, offer
from leaderboard.curation import rounds, snapshots
from leaderboard.curation.public_record import public_record
from leaderboard.curation.verification import missing_lines
from leaderboard.errors import Conflict, NotAllowed, Refused
from leaderboard.flags.shown import appealed, current, undecided
from leaderboard.models import BoardSnapshot, Evaluation, Flag, Rejudge, RejudgeState, ReleaseTrack, Track
from leaderboard.models.audit import record
from leaderboard.models.audit_values import edit_detail
from leaderboard.models.boards.track import NO_HARDWARE
from leaderboard.models.entrants.entrant import EntrantKind
from leaderboard.models.submissions.evaluation import OPEN_STATES
from leaderboard.standings import rank, rankable, scores
from problems.actions import releases
from problems.actions.releases import ImportReport
from problems.formats.compute_eval.directory import read_problem_directory
from problems.formats.compute_eval.packs import ProblemPack, read_problem_pack
from problems.models import RANKING_FIELDS, Release, ReleaseState
from problems.spec.digests import canonical_json
from problems.spec.kinds import NODE_KINDS
from problems.spec.numbered import numbered


def check_organiser(user: Any) -> None:
    """Raises NotAllowed. `user` None is the site's own shell."""
    if user is not None and not getattr(user, "is_staff", False):
        raise NotAllowed("organisers_only", "Only an organiser curates releases.")


def _read(source: Path | BinaryIO) -> ProblemPack:
    with releases.read_for_site():
        if isinstance(source, Path) and source.is_dir():
            return read_problem_directory(source)
        return read_problem_pack(source)


def import_release(user: Any, source: Path | BinaryIO, slug: str | None = None) -> ImportReport:
    """Make a draft from a pack or a folder of problems.

    Raises NotAllowed, PackRefused or ReleaseRefused.
    """
    check_organiser(user)
    return import_pack(user, _read(source), slug)


@transaction.atomic
def import_pack(user: Any, pack: ProblemPack, slug: str | None = None) -> ImportReport:
    """Make a draft from a pack that was read; one of questions alone is offered on the track `no-hardware`.

    Raises NotAllowed or ReleaseRefused.
    """
    check_organiser(user)
    report = _imported(user, pack, slug)
    if report.created:
        report.lines.append(f"Draft {report.release.slug} made ({report.identity}).")
    return report


def _imported(user: Any, pack: ProblemPack, slug: str | None) -> ImportReport:
    """Stores the draft. The report's lines hold as well for an import that is rolled back."""
    report = releases.import_release(pack, slug)
    if report.created:
        if pack.records and not report.release.problems.filter(kind__in=NODE_KINDS).exists():
            offer(user, report.release, no_hardware())
            report.lines.append("Its problems need no node: its track is no-hardware.")
        record(user, "import", report.release, digest=report.release.digest[:12], changed=len(report.changed))
    return report


def try_import(user: Any, pack: ProblemPack, slug: str | None = None) -> ImportReport:
    """Reports the effect of an import and stores nothing. Raises NotAllowed or ReleaseRefused."""
    check_organiser(user)
    with transaction.atomic():
        report = _imported(user, pack, slug)
        transaction.set_rollback(True)
    if report.created:
        report.lines.append(f"An import would make the draft {report.release.slug} ({report.identity}).")
    return report


@transaction.atomic
def publish(user: Any, release: Release, unverified_reason: str = "") -> None:
    """Publish a draft. After that its content never changes. Errata of the last revision that hold are carried over.

    The policy of its questions is fixed, too: sealed where they rank, unless the draft says practice.

    Raises Refused if the release cannot be ranked by its primary metric, if a decision of the last revision waits for
    an answer, or if a problem is not verified and there is no `unverified_reason`. The reason is stored only if a
    problem is not verified. Also raises NotAllowed and ReleaseRefused.
    """
    check_organiser(user)
    if faults := rankable.faults(release):
        raise Refused("cannot_be_ranked", " ".join(faults))
    check_answered(release)
    missing = missing_lines(release)
    if missing and not unverified_reason.strip():
        raise Refused("not_verified", _not_verified(release, missing))
    releases.publish(release, unverified_reason if missing else "")
    errata = carry_errata_over(user, release)
    facts = {"digest": release.digest[:12], "errata": len(errata), "questions": release.question_policy}
    record(user, "publish", release, reason=release.unverified_reason, **facts)


@transaction.atomic
def set_question_policy(user: Any, release: Release, policy: str | None, reveals_at: datetime | None) -> None:
    """Set what is given of a draft. Raises NotAllowed, or Refused if it is none."""
    check_organiser(user)
    given = {name: value for name, value in (("question_policy", policy), ("reveals_at", reveals_at)) if value}
    if not given:
        return
    before = {name: getattr(release, name) for name in given}
    if not Release.objects.filter(pk=release.pk, state=ReleaseState.DRAFT).update(**given):
        raise Refused("not_a_draft", f"{release.slug} is no draft: publication fixed the policy of its questions.")
    release.refresh_from_db()
    record(user, "edit", release, **edit_detail(before, given))


def _not_verified(release: Release, missing: Sequence[str]) -> str:
    return (
        f"{release.slug} is not verified: {'; '.join(missing)}. Verify it on a node of one of its tracks, or publish it"
        " with a reason, which its pages show."
    )


@transaction.atomic
def correct_ranking(user: Any, release: Release, values: Mapping[str, Any], reason: str) -> None:
    """Correct the ranking values of a published release that cannot be ranked. Its pages show `reason`.

    Raises NotAllowed, Refused or ReleaseRefused.
    """
    check_organiser(user)
    if release.is_draft or not rankable.faults(release):
        raise Refused("nothing_to_correct", f"{release.slug} can be ranked as it says: there is nothing to correct.")
    before = {name: getattr(release, name) for name in RANKING_FIELDS}
    releases.correct_ranking(release, values, reason)
    if faults := rankable.faults(release):
        raise Refused("cannot_be_ranked", " ".join(faults))
    if before["case_weights"] != release.case_weights:
        scores.hold_all(release.submissions.all())
        scores.rescore_places(scores.timed_places(release))
    scores.touch_release(release)
    after = {name: values[name] for name in RANKING_FIELDS}
    record(user, "correct ranking", release, reason=reason, **edit_detail(before, after))


@transaction.atomic
def freeze(user: Any, release: Release) -> list[BoardSnapshot]:
    """Freeze a published release: it takes no more submissions, and its boards are stored as they stand.

    Raises NotAllowed, ReleaseRefused, or Refused while evaluations are open or questions are sealed.
    """
    check_organiser(user)
    if release.questions_are_sealed:
        words = "its boards would be stored without its questions. Freeze it after `reveals at`."
        raise Refused("questions_sealed", f"The questions of {release.slug} are sealed: {words}")
    releases.freeze(release)
    if n_open := _n_open(release):
        raise Refused(
            "still_open",
            f"{release.slug} has {numbered(n_open, 'evaluation')} queued or running. Let them end or cancel them,"
            " then freeze it. Meanwhile `closes_at` keeps new submissions out.",
        )
    if running := Rejudge.objects.filter(release=release, is_round=True, state=RejudgeState.RUNNING).first():
        words = f"The {running} of {release.slug} on {running.track} still measures. Let it end or pause it first."
        raise Refused("round_runs", words)
    rank.rank_touched(release)
    places = ReleaseTrack.objects.filter(release=release).select_related("release", "track").order_by("track__slug")
    made = [snapshots.take(place) for place in places]
    record(user, "freeze", release, snapshots={one.track.slug: one.sha256 for one in made})
    return made


def freezing_warnings(release: Release) -> list[str]:
    """Warnings to see to before the boards are stored: flags and appeals that wait for a ruling."""
    shown = Flag.objects.filter(current(), result__evaluation__submission__release=release)
    rows = shown.exclude(result__evaluation__submission__entrant__kind=EntrantKind.SYSTEM)
    n_flags, n_appeals = rows.filter(undecided()).count(), rows.filter(appealed()).count()
    made = Rejudge.objects.filter(release=release, is_round=True)
    n_lacking = sum(rounds.lacking(one).count() for one in made)
    warnings = {
        f"passes of a round without a second measurement: {n_lacking}. Resume the round to measure them.": n_lacking,
        f"undecided flags: {n_flags}. Until a ruling their passes or times do not count.": n_flags,
        f"unanswered appeals: {n_appeals}.": n_appeals,
    }
    return [f"Warning: {words}" for words, n in warnings.items() if n]


@transaction.atomic
def reveal(user: Any, release: Release) -> None:
    """Show hidden results now. Raises NotAllowed, or Refused if they are not hidden."""
    check_organiser(user)
    held = Release.objects.select_for_update().get(pk=release.pk)
    if not held.results_are_hidden:
        raise Refused("not_hidden", f"The results of {held.slug} are not hidden.")
    was, held.hidden_until = held.hidden_until, timezone.now()
    held.save(update_fields=["hidden_until"])
    record(user, "reveal", release, hidden_until=was and was.isoformat())
    release.refresh_from_db()


def _n_open(release: Release) -> int:
    rows = Evaluation.objects.live().filter(submission__release=release, state__in=OPEN_STATES)
    return rows.exclude(submission__entrant__kind=EntrantKind.SYSTEM).count()


def export(user: Any, release: Release, target: BinaryIO) -> int:
    """Write the problem pack with its held-out files. Returns the number of problems. Raises NotAllowed."""
    check_organiser(user)
    count = releases.export_release(release, target)
    record(user, "export", release, problems=count)
    return count


def export_redacted(user: Any, release: Release, target: BinaryIO) -> int:
    """Write what a participant may read of the problems, one JSON object a line. Returns their number.

    Held-out files, references, answers, and problems marked `do_not_release` are left out. Raises NotAllowed.
    """
    check_organiser(user)
    rows = release.problems.filter(do_not_release=False).select_related("release").order_by("position")
    count = 0
    for problem in rows.iterator(chunk_size=50):
        target.write(canonical_json(public_record(None, problem)) + b"\n")
        count += 1
    record(user, "export redacted", release, problems=count)
    return count


@transaction.atomic
def make_public(user: Any, release: Release) -> None:
    """Let everybody read statements and visible files once the release is published. Raises NotAllowed."""
    check_organiser(user)
    if Release.objects.filter(pk=release.pk, is_public=False).update(is_public=True):
        record(user, "make public", release, **edit_detail({"is_public": False}, {"is_public": True}))
    release.refresh_from_db()


_TRACK_SLUG = re.compile(r"[a-z0-9][a-z0-9._-]*")
_VERSION = re.compile(r"\d+\.\d+")


@transaction.atomic
def add_track(user: Any, fields: Mapping[str, str]) -> Track:
    """Make a track from values of the model's fields. Raises NotAllowed, Refused or Conflict."""
    check_organiser(user)
    slug = fields["slug"]
    if not _TRACK_SLUG.fullmatch(slug):
        raise Refused("bad_slug", f"{slug!r} is no track name; use lower-case letters, digits, dots and hyphens.")
    if slug == NO_HARDWARE or fields["device"] == "none":
        raise Refused("built_in", f"The only track without hardware is {NO_HARDWARE}; it is made when it is needed.")
    if Track.objects.filter(slug=slug).exists():
        raise Conflict("track_exists", f"Track {slug!r} is here already.")
    versions = (fields["compute_capability"], fields["toolkit"])
    if fields["device"] == "gpu" and not all(map(_VERSION.fullmatch, versions)):
        raise Refused(
            "versions_needed", "A GPU track needs its compute capability (as 9.0) and CUDA toolkit (as 13.0)."
        )
    track = Track.objects.create(**fields)
    record(user, "add", track)
    return track
