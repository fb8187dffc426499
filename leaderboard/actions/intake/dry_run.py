"""A dry run of a submission: every reason why it would be refused, and what would come of it. Nothing is stored.

It calls the reader and the checks of `submit`, which stops at the first refusal.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from leaderboard.accounts import quotas
from leaderboard.actions.intake.submit import checks, use_of
from leaderboard.errors import Refused
from leaderboard.intake.catalogue import catalogue_of
from leaderboard.intake.remedies import remedy_of
from leaderboard.intake.submission_rules import check_size
from leaderboard.models import Submission
from leaderboard.rows.submissions import SubmissionMetadata, identity_of, twin
from problems.formats.coverage import Coverage, absent_counts, covering
from problems.formats.errors import PackRefused
from problems.formats.incoming import IncomingSample
from problems.formats.submission import IncomingSubmission
from problems.models import Release


@dataclass(frozen=True)
class SubmissionFault:
    """Something wrong, and what to do. `line` is the line of the pack; both places are empty where there is none."""

    code: str
    message: str
    remedy: str
    line: int | None = None
    task_id: str = ""


@dataclass(frozen=True)
class Contents:
    """A readable submission. `incoming.undecided`: neither it nor its submitter says full or partial."""

    incoming: IncomingSubmission
    n_problems: int
    """Number of problems of the release."""
    absent: Mapping[str, int]
    """Numbers of samples that a full submission would lack, by task_id."""
    invalid: tuple[SubmissionFault, ...]
    """Samples that would be stored as `invalid`."""
    twin: Submission | None
    """The same submission, if it is stored already."""

    @property
    def n_present(self) -> int:
        return len(self.incoming.sample_counts)

    @property
    def coverage(self) -> str:
        """A `Coverage`; empty if neither is said yet."""
        return "" if self.incoming.undecided else Coverage.FULL if self.incoming.full else Coverage.PARTIAL

    @property
    def absent_tasks(self) -> list[str]:
        """Problems without any sample."""
        return [task_id for task_id in self.absent if task_id not in self.incoming.sample_counts]


@dataclass(frozen=True)
class DryRun:
    """The site's answer to a dry run. `contents` is None if the file cannot be read, `quota` if the account has
    none."""

    metadata: SubmissionMetadata
    faults: tuple[SubmissionFault, ...]
    contents: Contents | None
    quota: quotas.Today | None
    use: quotas.Use

    @property
    def is_accepted(self) -> bool:
        return not self.faults

    @property
    def quota_after(self) -> quotas.Today | None:
        """The account's day after it; nothing is used by what is refused or stored already."""
        is_new = self.is_accepted and self.contents is not None and self.contents.twin is None
        return self.quota.after(self.use) if self.quota and is_new else self.quota


def dry_run(user: Any, metadata: SubmissionMetadata, read: Callable[[], IncomingSubmission], said: str = "") -> DryRun:
    """`read` is what reads the file for `submit`; `said` is the submitter's `coverage`. Raises NotAllowed."""
    rights, *others = checks(user, metadata)
    rights()
    faults = [fault for check in others for fault in _faults_of(check)]
    quota = quotas.of_today(user)
    try:
        incoming = read()
    except PackRefused as refusal:
        return DryRun(metadata, (*faults, *_each(refusal)), None, quota, quotas.Use(0))
    faults += [_of_refusal(PackRefused("unknown_task", one.message, one.line)) for one in incoming.unknown]
    try:
        incoming = covering(incoming, catalogue_of(metadata.release), said) if incoming.samples else incoming
    except PackRefused as refusal:
        faults += _each(refusal)
    faults += _faults_of(partial(check_size, len(incoming.samples), len(metadata.tracks)))
    contents = _contents(metadata, incoming)
    if incoming.full and contents.twin is None:
        faults += _faults_of(partial(quotas.check_tries, user, metadata.entrant, metadata.release))
    use = use_of(metadata, incoming)
    if quota and contents.twin is None and (words := quota.why_too_much(use)):
        faults.append(_fault("quota_exceeded", words))
    return DryRun(metadata, tuple(faults), contents, quota, use)


def _contents(metadata: SubmissionMetadata, incoming: IncomingSubmission) -> Contents:
    release: Release = metadata.release
    return Contents(
        incoming=incoming,
        n_problems=len(catalogue_of(release).problems),
        absent=absent_counts(incoming, catalogue_of(release)),
        invalid=tuple(_invalid(one) for one in incoming.samples if one.invalid_reason),
        twin=twin(identity_of(metadata, incoming)),
    )


def _faults_of(check: Callable[[], None]) -> list[SubmissionFault]:
    try:
        check()
    except PackRefused as refusal:
        return list(_each(refusal))
    except Refused as refusal:
        return [_fault(refusal.code, refusal.message, refusal.line)]
    return []


def _each(refusal: PackRefused) -> Iterator[SubmissionFault]:
    yield from map(_of_refusal, (refusal, *refusal.also))


def _of_refusal(refusal: PackRefused) -> SubmissionFault:
    return _fault(refusal.code, refusal.message, refusal.line)


def _fault(code: str, message: str, line: int | None = None) -> SubmissionFault:
    ended = message if message.endswith(".") else f"{message}."
    return SubmissionFault(code, f"{ended[0].upper()}{ended[1:]}", remedy_of(code), line)


def _invalid(one: IncomingSample) -> SubmissionFault:
    place = f"Line {one.line_number}: " if one.line_number else ""
    words = f"{place}{one.task_id} sample {one.index + 1} is invalid: {one.invalid_reason.rstrip('.')}."
    return SubmissionFault("invalid_sample", words, remedy_of("invalid_sample"), one.line_number or None, one.task_id)
