"""What can be known of a submission before it is sent: the site's own reader, with the release's public task list."""

from collections.abc import Iterable, Mapping
from typing import Any, BinaryIO

from problems.formats.submission import Catalogue, SubmissionDraft, UploadLimits, read_submission
from problems.spec.profile import Profile
from problems.spec.workspace_rules import WorkspaceRules


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


def report(draft: SubmissionDraft) -> str:
    """What is about to be sent. Which samples are invalid is the site's to say: it knows the held-out files too."""
    kind = "full" if draft.full else "partial"
    return f"{len(draft.samples)} samples of {len(draft.sample_counts)} problems, a {kind} submission."
