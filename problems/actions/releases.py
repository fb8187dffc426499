"""What can be done to a release: import, publish, freeze, export. Callers write the audit entry."""

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import BinaryIO

from django.db import transaction
from django.utils import timezone
from django.utils.text import slugify

from problems.formats.compute_eval.packs import PackRecord, ProblemPack, write_problem_pack
from problems.models import Problem, Release, ReleaseState
from problems.spec.digests import grading_digest, record_md5
from problems.spec.profile import Profile

LINE_LIMIT = 50
"""Changed tasks named one by one in a report; beyond this they are counted."""


class ReleaseRefused(ValueError):
    """The release cannot be changed that way; the message says why and what to do."""


@dataclass
class ImportReport:
    """What an import did, line by line."""

    release: Release
    created: bool
    lines: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    still_holding: list[str] = field(default_factory=list)


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


def _row(release: Release, position: int, slug: str, record: PackRecord) -> Problem:
    spec, podium = record.problem, record.problem.podium
    return Problem(
        release=release,
        position=position,
        task_id=spec.task_id,
        slug=slug,
        type=spec.type,
        group=str(spec.group),
        title=podium.title or spec.task_id,
        difficulty=spec.metadata.difficulty or "",
        tags=list(spec.metadata.tags or []),
        record=record.line,
        record_md5=record_md5(record.line),
        record_sha256=hashlib.sha256(record.line).hexdigest(),
        grading_digest=grading_digest(spec, podium.build_only),
        build_only=podium.build_only,
        flops=podium.flops,
        bytes=podium.bytes,
        flops_dtype=podium.flops_dtype,
        has_benchmark=spec.benchmark_command is not None,
        has_baseline=spec.baseline_solution is not None,
    )


def _free_slug(wanted: str) -> str:
    slug, number = wanted, 2
    while Release.objects.filter(slug=slug).exists():
        slug, number = f"{wanted}-{number}", number + 1
    return slug


def _new_release(pack: ProblemPack, slug: str | None, previous: Release | None) -> Release:
    metadata = pack.metadata
    name = str(metadata.release)
    revision = previous.revision + 1 if previous else 1
    suffix = f"-r{revision}" if previous else ""
    return Release(
        slug=slug or _free_slug(slugify(name.replace(".", "-")) + suffix),
        datapack_release=name,
        revision=revision,
        digest=pack.digest,
        profile=pack.profile,
        previous=previous,
        pack_metadata=pack.metadata_bytes.decode(),
        title=metadata.title or name,
        description=metadata.description or "",
        primary_metric=metadata.primary_metric or "pass@1",
        timing_policy=metadata.timing_policy or "quick",
        ks=sorted({1, *(metadata.ks or [])}),
    )


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


@transaction.atomic
def import_release(pack: ProblemPack, slug: str | None = None) -> ImportReport:
    """Make a draft release of a pack. The same content again changes nothing; other content is the next revision."""
    name = str(pack.metadata.release)
    same = Release.objects.filter(datapack_release=name, digest=pack.digest).first()
    if same:
        return ImportReport(
            same, created=False, lines=[f"{name} is already here as {same.slug} with this very content."]
        )
    if slug and Release.objects.filter(slug=slug).exists():
        raise ReleaseRefused(
            f"A release with slug {slug!r} is already here, with other content. Choose another --slug."
        )
    previous = Release.objects.filter(datapack_release=name).order_by("-revision").first()
    release = _new_release(pack, slug, previous)
    release.save()
    slugs = _unique_slugs([record.problem.task_id for record in pack.records])
    rows = [_row(release, n, slug, record) for n, (slug, record) in enumerate(zip(slugs, pack.records, strict=True))]
    Problem.objects.bulk_create(rows, batch_size=200)
    report = ImportReport(release, created=True)
    report.lines.append(f"{len(rows)} problems read; every hash and the count agree with metadata.json.")
    report.lines += [f"  {group}: {count}" for group, count in _counts(rows).items()]
    if previous:
        _compare(report, previous, rows)
    report.lines.append(f"Draft {release.slug} made (revision {release.revision}, digest {release.digest[:12]}…).")
    return report


def _change(md5_before: str | None, holds: bool) -> str:
    if md5_before is None:
        return "added"
    return "changed, its results still hold" if holds else "changed, its results do not hold"


def _counts(rows: list[Problem]) -> Mapping[str, int]:
    counts: dict[str, int] = {}
    for row in rows:
        counts[row.group] = counts.get(row.group, 0) + 1
    return counts


def _move(release: Release, before: ReleaseState, after: ReleaseState, stamp: str) -> None:
    """One guarded UPDATE; the row count says whether it was ours to make."""
    moved = Release.objects.filter(pk=release.pk, state=before).update(**{"state": after, stamp: timezone.now()})
    if not moved:
        release.refresh_from_db()
        raise ReleaseRefused(f"{release.slug} is {release.state}; only a {before} release can become {after}.")
    release.refresh_from_db()


def publish(release: Release) -> None:
    if not release.problems.exists():
        raise ReleaseRefused(f"{release.slug} has no problems; there is nothing to publish.")
    _move(release, ReleaseState.DRAFT, ReleaseState.PUBLISHED, "published_at")


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


def profile_of(release: Release) -> Profile:
    return Profile(release.profile)
