"""What can be known of a submission before it is sent: the site's own reader, with the release's public task list."""

from collections.abc import Iterable, Mapping
from typing import Any, BinaryIO

from problems.formats.submission import Catalogue, SubmissionDraft, UploadLimits, read_submission
from problems.spec.profile import Profile
from problems.spec.workspace_rules import WorkspaceRules

SHOWN_INVALID = 20


def catalogue_from(release: Mapping[str, Any], problems: Iterable[Mapping[str, Any]]) -> Catalogue:
    """A catalogue of what the API tells everybody. Rules that depend on held-out files are left to the site."""
    groups = {str(row["task_id"]): str(row["group"]) for row in problems}
    rules = {task_id: _rules_without_files(task_id) for task_id in groups}
    return Catalogue(str(release["datapack_release"]), Profile(release["profile"]), groups, rules)


def _rules_without_files(task_id: str) -> WorkspaceRules:
    nothing: frozenset[str] = frozenset()
    return WorkspaceRules(task_id, nothing, nothing, nothing, nothing, {}, (), (), ())


def check(file: BinaryIO, filename: str, catalogue: Catalogue, strict: bool) -> SubmissionDraft:
    """Raises PackRefused for what the site would refuse too. How large a file may be is the site's to say."""
    size_bytes = file.seek(0, 2)
    file.seek(0)
    return read_submission(file, filename, catalogue, UploadLimits(packed_bytes=size_bytes), strict)


def report(draft: SubmissionDraft) -> list[str]:
    """Lines for a person: how many samples there are, and which of them will be stored as invalid."""
    bad = [sample for sample in draft.samples if sample.invalid_reason]
    kind = "full" if draft.full else "partial"
    lines = [f"{len(draft.samples)} samples of {len(draft.sample_counts)} problems, a {kind} submission."]
    lines += [notice.message for notice in draft.notices]
    lines += [f"  {one.task_id} sample {one.index + 1} is invalid: {one.invalid_reason}" for one in bad[:SHOWN_INVALID]]
    if len(bad) > SHOWN_INVALID:
        lines.append(f"  and {len(bad) - SHOWN_INVALID} more are invalid.")
    return lines
