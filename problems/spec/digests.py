"""The fingerprints of records and packs."""

import hashlib
import json
from collections.abc import Sequence
from typing import Any

from problems.spec.record import ProblemRecord

_NOT_GRADED = frozenset({"prompt", "date", "other_baselines", "explanation", "salt", "sources"})
_NOT_GRADED_METADATA = frozenset({"difficulty", "tags", "releases", "do_not_release"})
_NOT_GRADED_PODIUM = frozenset({"title", "starter", "visible_tests", "visible_test_command", "known_bad"})


def record_md5(line: bytes) -> str:
    """ComputeEval's hash of a record: md5 of the stored line with its newline."""
    return hashlib.md5(line, usedforsecurity=False).hexdigest()


def pack_digest(jsonl: bytes) -> str:
    """The identity of a release's content: sha256 of problems.jsonl."""
    return hashlib.sha256(jsonl).hexdigest()


def grading_digest(problem: ProblemRecord, build_only: Sequence[str] | None) -> str:
    """sha256 over all that a result depends on: every field but the words for people, and what runs withhold."""
    fields = {key: value for key, value in problem.model_dump(mode="json").items() if key not in _NOT_GRADED}
    fields["metadata"] = _graded_metadata(fields["metadata"])
    fields["build_only"] = None if build_only is None else sorted(build_only)
    return hashlib.sha256(canonical_json(fields)).hexdigest()


def canonical_json(value: Any) -> bytes:
    """Sorted keys, no blanks, ASCII: equal values give equal bytes."""
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def _graded_metadata(metadata: dict[str, Any]) -> dict[str, Any]:
    graded = {key: value for key, value in metadata.items() if key not in _NOT_GRADED_METADATA}
    podium = graded.get("podium")
    if isinstance(podium, dict):
        graded["podium"] = {key: value for key, value in podium.items() if key not in _NOT_GRADED_PODIUM}
    return graded
