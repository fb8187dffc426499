"""Imports, publishes, freezes and exports releases. Callers write the audit entry."""

import hashlib
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from django.core.exceptions import ValidationError
from django.db import models, transaction
from django.utils import timezone
from django.utils.text import slugify

from problems import sealing
from problems.formats.compute_eval.packs import PackRecord, ProblemPack, write_problem_pack
from problems.formats.errors import PackRefused
from problems.models import DEFAULT_MAX_SAMPLES, RANKING_FIELDS, Problem, Release, ReleaseState
from problems.spec.digests import grading_digest, record_md5
from problems.spec.pack import parse_problem_metadata
from problems.spec.ranking import TimingPolicy, offered_ks
from problems.spec.record import ProblemRecord
from problems.spec.site.problem import problem_faults, problem_warnings
from problems.spec.site.release import why_bad_case_weights, why_bad_weights

NAMED = 3
"""Tasks that one line of a report names; the rest is counted."""
MAX_FAULTS = 500
"""Faults of a pack that are listed; the rest is counted."""
LINE_LIMIT = 50
"""Changed tasks named one by one in a report; beyond this they are counted."""


class ReleaseRefused(ValueError):
    """The release cannot be changed that way; the message says why and what to do."""


class PackUnfit(ReleaseRefused):
    """A pack has values that cannot work on a site; `faults` has a sentence for each."""

    def __init__(self, faults: Sequence[str]) -> None:
        more = [f"And {len(faults) - MAX_FAULTS} more."] if len(faults) > MAX_FAULTS else []
        self.faults = (*faults[:MAX_FAULTS], *more)
        super().__init__("\n".join(self.faults))


@dataclass
class ImportReport:
    """The result of an import, line by line."""

    release: Release
    created: bool
    lines: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    still_holding: list[str] = field(default_factory=list)

    @property
    def identity(self) -> str:
        """The release's revision and digest, in words."""
        return f"revision {self.release.revision}, digest {self.release.digest[:12]}…"


def problem_slug(task_id: str) -> str:
    """`CUDA/12` → `cuda-12`; never empty."""
    return slugify(re.sub(r"[^A-Za-z0-9]+", "-", task_id)) or "problem"


def _unique_slugs(task_ids: list[str]) -> Iterator[str]:
    taken: set[str] = set()
    for task_id in task_ids:
        base = slug = problem_slug(task_id)[:190]
        number = 2
        while slug in taken:
            slug, number = f"{base}-{number}", number + 1
        taken.add(slug)
        yield slug


def problem_row(release: Release, position: int, slug: str, record: PackRecord) -> Problem:
    spec = record.problem
    return Problem(
        release=release,
        position=position,
        task_id=spec.task_id,
        slug=slug,
        kind=spec.kind,
        type=spec.type,
        group=str(spec.group),
        title=spec.title,
        difficulty=spec.metadata.difficulty or "",
        tags=list(spec.metadata.tags or []),
        record=record.line,
        record_md5=record_md5(record.line),
        record_sha256=hashlib.sha256(record.line).hexdigest(),
        grading_digest=grading_digest(spec, spec.withheld),
        build_only=spec.withheld,
        cases=[case.model_dump(mode="json") for case in spec.cases],
        has_benchmark=bool(spec.cases),
        has_baseline=spec.reference is not None,
        timed_work=spec.timed_work or "",
        do_not_release=spec.metadata.do_not_release,
    )


def free_slug(wanted: str) -> str:
    slug, number = wanted, 2
    while Release.objects.filter(slug=slug).exists():
        slug, number = f"{wanted}-{number}", number + 1
    return slug


SLUG_CHARACTERS = 90
"""Limit of a slug made from a release's name; the rest is for `-r2` and the like."""


def release_slug(name: str) -> str:
    """`2025.1` → `2025-1`; never empty."""
    return slugify(name.replace(".", "-"))[:SLUG_CHARACTERS] or "release"


def check_columns(row: models.Model, words: str) -> None:
    """Raises ReleaseRefused where a text does not fit its column: PostgreSQL would stop there, SQLite store it."""
    fields = row._meta.concrete_fields
    for column in fields:
        if isinstance(text := getattr(row, column.attname), str) and "\0" in text:
            raise ReleaseRefused(f"{words}: `{column.name}` holds a NUL character. Take it out of the pack.")
    given = [column.name for column in fields if getattr(row, column.attname) not in column.empty_values]
    check_fields(row, [name for name in given if not row._meta.get_field(name).is_relation], words)


def check_fields(row: models.Model, names: Collection[str], words: str) -> None:
    """Raises ReleaseRefused where the value of one of the fields `names` is not valid."""
    try:
        row.clean_fields(exclude=[column.name for column in row._meta.concrete_fields if column.name not in names])
    except ValidationError as error:
        name, said = next(iter(error.message_dict.items()))
        raise ReleaseRefused(f"{words}: `{name}`: {said[0]}") from error


def _new_release(pack: ProblemPack, slug: str | None, previous: Release | None) -> Release:
    metadata = pack.metadata
    name = str(metadata.release)
    revision = previous.revision + 1 if previous else 1
    suffix = f"-r{revision}" if previous else ""
    ks = offered_ks(metadata.ks, metadata.primary_metric)
    return Release(
        slug=slug or free_slug(release_slug(name) + suffix),
        datapack_release=name,
        revision=revision,
        digest=pack.digest,
        profile=pack.profile,
        previous=previous,
        pack_metadata=pack.metadata_bytes.decode(),
        title=metadata.title or name,
        description=metadata.description or "",
        primary_metric=metadata.primary_metric or "pass@1",
        timing_policy=metadata.timing_policy or TimingPolicy.RANKED.value,
        ks=ks,
        max_samples=max(DEFAULT_MAX_SAMPLES, *ks),
        weights=metadata.weights,
        weights_note=metadata.weights_note,
        case_weights=metadata.case_weights,
        one_command=metadata.one_command,
        separate_harness=metadata.separate_harness,
    )


_AUDIENCE = ("is_public", "results_are_public", "invited_may_read", "shows_first_failure", "transcripts_are_public")
"""Fields that let more people read more where they are true."""


def keep_audience(release: Release, *earlier: Release) -> None:
    """Show the saved release to those who may see all of the earlier ones, and its results no sooner than theirs.

    Its questions have their policy."""
    for name in _AUDIENCE:
        setattr(release, name, all(getattr(one, name) for one in earlier))
    hidden = [one.hidden_until for one in earlier if one.hidden_until and one.hidden_until > timezone.now()]
    release.hidden_until = max(hidden, default=None)
    sealing.keep_sealed(release, earlier)
    release.save(update_fields=[*_AUDIENCE, "hidden_until", *sealing.FIELDS])
    first, *others = (set(one.invited.all()) for one in earlier)
    release.invited.set(first.intersection(*others))


def _compare(report: ImportReport, previous: Release, rows: list[Problem]) -> None:
    """Say which tasks changed since `previous` and which results still hold (equal grading digest)."""
    old = {p.task_id: (p.record_md5, p.grading_digest) for p in previous.problems.all()}
    for row in rows:
        md5, grading = old.pop(row.task_id, (None, None))
        if grading == row.grading_digest:
            report.still_holding.append(row.task_id)
        if md5 != row.record_md5:
            report.changed.append(row.task_id)
            if len(report.changed) <= LINE_LIMIT:
                report.lines.append(f"  {row.task_id}: {_change(md5, grading == row.grading_digest)}")
    report.lines += [f"  {task_id}: removed" for task_id in list(old)[:LINE_LIMIT]]
    report.lines.append(
        f"{len(report.changed)} of {len(rows)} tasks differ from {previous.slug}, {len(old)} were removed; "
        f"results of {len(report.still_holding)} still hold."
    )
    if previous.weights != report.release.weights:
        report.lines.append(f"The weights of groups differ from those of {previous.slug}.")


def _same(pack: ProblemPack) -> Release | None:
    """The release of that name whose pack had the same problems and weights."""
    with_problems = Release.objects.filter(datapack_release=str(pack.metadata.release), digest=pack.digest)
    for one in with_problems.order_by("revision"):
        known = parse_problem_metadata(one.pack_metadata.encode())
        if (known.weights, known.case_weights) == (pack.metadata.weights, pack.metadata.case_weights):
            return one
    return None


@transaction.atomic
def import_release(pack: ProblemPack, slug: str | None = None) -> ImportReport:
    """Make a draft release of a pack. The same problems with the same weights again change nothing.

    Other ones are the next revision.
    """
    name = str(pack.metadata.release)
    if same := _same(pack):
        return ImportReport(
            same, created=False, lines=[f"{name} is already here as {same.slug} with this very content."]
        )
    if slug and Release.objects.filter(slug=slug).exists():
        raise ReleaseRefused(
            f"A release with slug {slug!r} is already here, with other content. Choose another --slug."
        )
    if faults := list(_unfit(pack)):
        raise PackUnfit(faults)
    previous = Release.objects.filter(datapack_release=name).order_by("-revision").first()
    release = _new_release(pack, slug, previous)
    check_columns(release, f"Release {name}"[:100])
    release.save()
    if previous:
        keep_audience(release, previous)
    slugs = _unique_slugs([record.problem.task_id for record in pack.records])
    rows = [
        problem_row(release, n, slug, record) for n, (slug, record) in enumerate(zip(slugs, pack.records, strict=True))
    ]
    for row in rows:
        check_columns(row, f"Problem {row.task_id}"[:100])
    Problem.objects.bulk_create(rows, batch_size=200)
    report = ImportReport(release, created=True)
    report.lines.append(f"{len(rows)} problems read{f'; {pack.agreement}' if pack.agreement else ''}.")
    report.lines += [f"  {group}: {count}" for group, count in _counts(rows).items()]
    report.lines += guessable_lines(pack)
    report.lines += warning_lines(pack)
    if previous:
        _compare(report, previous, rows)
    return report


@contextmanager
def read_for_site() -> Iterator[None]:
    """Reading a pack in the block raises PackUnfit where it has several faults, those of readable problems included."""
    try:
        yield
    except PackRefused as refused:
        unfit = [words for one in refused.readable for words in unfit_problem(one)]
        if not refused.also and not unfit:
            raise
        raise PackUnfit([*refused.every_message, *unfit]) from refused


def _unfit(pack: ProblemPack) -> Iterator[str]:
    """A sentence for each value of the pack that cannot work."""
    groups = {str(record.problem.group) for record in pack.records}
    if reason := why_bad_weights(pack.metadata.weights, groups):
        yield f"metadata.json: `weights`: {reason}."
    cases = {record.problem.task_id: [one.name for one in record.problem.cases] for record in pack.records}
    if reason := why_bad_case_weights(pack.metadata.case_weights, cases):
        yield f"metadata.json: `case_weights`: {reason}."
    for record in pack.records:
        yield from unfit_problem(record.problem)


def unfit_problem(problem: ProblemRecord) -> Iterator[str]:
    for fault in problem_faults(problem):
        yield f"Task `{problem.task_id}`: field `{'.'.join(map(str, fault.path))}` {fault.words}."


def warning_lines(pack: ProblemPack) -> list[str]:
    """Warnings for authors, each with the problems that it concerns."""
    by_words: dict[str, list[str]] = {}
    for record in pack.records:
        for words in problem_warnings(record.problem):
            by_words.setdefault(words, []).append(record.problem.task_id)
    return [f"Warning: {words}: {_named(names)}." for words, names in by_words.items()]


def _named(names: Sequence[str]) -> str:
    """The names as "a, b, c and 4 more"."""
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more


def guessable_lines(pack: ProblemPack) -> list[str]:
    names = [record.problem.task_id for record in pack.records if record.problem.is_guessable]
    if not names:
        return []
    return [
        f"Note: {_named(names)} have neither `explanation` nor `salt`. In a small release their answers"
        " could be guessed from its public digest: give each a `salt` of random characters."
    ]


def _change(md5_before: str | None, holds: bool) -> str:
    if md5_before is None:
        return "added"
    return "changed, its results still hold" if holds else "changed, its results do not hold"


def _counts(rows: list[Problem]) -> Mapping[str, int]:
    counts: dict[str, int] = {}
    for row in rows:
        counts[row.group] = counts.get(row.group, 0) + 1
    return counts


def _move(release: Release, before: ReleaseState, after: ReleaseState, stamp: str, **more: Any) -> None:
    """One guarded UPDATE; the row count says whether it was ours to make."""
    now = timezone.now()
    moved = Release.objects.filter(pk=release.pk, state=before).update(**{"state": after, stamp: now}, **more)
    if not moved:
        release.refresh_from_db()
        raise ReleaseRefused(f"{release.slug} is {release.state}; only a {before} release can become {after}.")
    release.refresh_from_db()


def publish(release: Release, unverified_reason: str = "") -> None:
    """Draft to published. `unverified_reason` stands on its pages. Raises ReleaseRefused."""
    if not release.problems.exists():
        raise ReleaseRefused(f"{release.slug} has no problems; there is nothing to publish.")
    if broken := " ".join(broken_promises(release)):
        raise ReleaseRefused(f"{broken} Mend the pack, or take the promise back.")
    if faults := " ".join(sealing.faults(release)):
        raise ReleaseRefused(faults)
    fixed = {"unverified_reason": unverified_reason.strip(), "question_policy": sealing.policy_of(release)}
    _move(release, ReleaseState.DRAFT, ReleaseState.PUBLISHED, "published_at", **fixed)


def broken_promises(release: Release) -> Iterator[str]:
    """One sentence for each promise that does not hold of every problem."""
    if not (release.one_command or release.separate_harness):
        return
    specs = [problem.spec for problem in release.problems.select_related("release")]
    if release.one_command:
        yield from _broken(release, "times its test command", [one for one in specs if not one.times_its_test])
    if release.separate_harness:
        yield from _broken(release, "has `harness: separate`", [one for one in specs if not one.has_separate_harness])


def _broken(release: Release, words: str, specs: Sequence[ProblemRecord]) -> Iterator[str]:
    names = ", ".join(spec.task_id for spec in specs[:LINE_LIMIT])
    more = f" and {len(specs) - LINE_LIMIT} more" if len(specs) > LINE_LIMIT else ""
    if specs:
        yield f"{release.slug} promises that every problem {words}; not so: {names}{more}."


def correct_ranking(release: Release, values: Mapping[str, Any], reason: str) -> None:
    """Set ranking fields of a published release; `reason` stands on its pages. Raises ReleaseRefused.

    The release then takes at least as many samples of a problem as its largest k.
    """
    if not reason.strip():
        raise ReleaseRefused("A correction needs a reason; it is shown on the release's pages.")
    for name in RANKING_FIELDS:
        setattr(release, name, values[name])
    release.correction = f"{release.correction}\n{timezone.now():%Y-%m-%d}: {reason.strip()}".strip()
    check_fields(release, RANKING_FIELDS, release.slug)
    if reason := why_bad_weights(release.weights, set(release.problems.values_list("group", flat=True))):
        raise ReleaseRefused(f"{release.slug}: `weights`: {reason}.")
    if reason := why_bad_case_weights(release.case_weights, cases_of(release)):
        raise ReleaseRefused(f"{release.slug}: `case_weights`: {reason}.")
    release.max_samples = max(release.max_samples, *release.offered_ks)
    release.save(update_fields=[*RANKING_FIELDS, "correction", "max_samples"])


def cases_of(release: Release) -> dict[str, list[str]]:
    """The names of the public cases of each problem by its task."""
    rows = release.problems.only("task_id", "cases", "release")
    return {one.task_id: [case.name for case in one.public_cases] for one in rows}


def adopt_rules(release: Release, version: int, words: str) -> None:
    """Set the version of the rules; `words` stand on the pages of a published release."""
    release.rules = version
    if not release.is_draft:
        release.correction = f"{release.correction}\n{timezone.now():%Y-%m-%d}: {words}".strip()
    release.save(update_fields=["rules", "correction"])


def freeze(release: Release) -> None:
    _move(release, ReleaseState.PUBLISHED, ReleaseState.FROZEN, "frozen_at")


def settle_build_only(problem: Problem, paths: list[str]) -> None:
    """Store which files a run can do without, as verifying found; the grading digest follows. Drafts only."""
    problem.build_only = sorted(paths)
    problem.grading_digest = grading_digest(problem.spec, problem.build_only)
    problem.save(update_fields=["build_only", "grading_digest"])


def export_release(release: Release, target: BinaryIO) -> int:
    """Write the release as a problem pack, its problems.jsonl byte for byte as imported; returns the problem count."""
    lines = [bytes(record) for record in release.problems.order_by("position").values_list("record", flat=True)]
    write_problem_pack(target, release.pack_metadata.encode(), lines)
    return len(lines)
