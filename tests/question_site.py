"""Releases with questions, and submissions of replies."""

import io
from typing import Any

from leaderboard.actions import curate
from leaderboard.actions.submit import submit
from leaderboard.catalogue import catalogue_of
from leaderboard.models import Entrant, Submission, Track
from leaderboard.rows.submissions import SubmissionMetadata
from problems.actions import releases as release_actions
from problems.formats.compute_eval.packs import write_problem_pack
from problems.formats.submission import read_submission
from problems.models import Release
from tests import packs

EXPLANATION = "Explanation words: a block of 256 threads has 8 warps."
ANSWER_PATH = "answer.txt"
CHOICES = ["four warps", "eight warps", "a warp of 256 lanes"]


def choice(task_id: str = "qa-1-warps", **changes: Any) -> dict[str, Any]:
    """A question whose answer is B."""
    fields = {
        "task_id": task_id, "kind": "choice", "type": "choice", "schema_version": 1, "date": "", "group": "warps",
        "prompt": "How many warps are in a block of **256** threads?", "choices": CHOICES, "answer": "B",
        "metadata": {"difficulty": "easy", "tags": ["warps"], "podium": {"title": "Warps of a block"}},
        "explanation": EXPLANATION,
        "sources": [{"title": "Guide", "url": "https://docs.example.org/guide", "section": "Warps"}],
    }  # fmt: skip
    return fields | changes


def short(task_id: str = "qa-1-bytes", **changes: Any) -> dict[str, Any]:
    """A question whose answer is 4096."""
    fields = {
        "task_id": task_id, "kind": "short_answer", "type": "short_answer", "schema_version": 1, "date": "",
        "group": "memory", "prompt": "How many bytes?", "answer": "4096", "metadata": {"podium": {"title": "Bytes"}},
    }  # fmt: skip
    return fields | changes


def release(*problems: dict[str, Any], name: str = "questions-1", **metadata: Any) -> Release:
    """Published and public; the two questions if no problems are given."""
    pack = packs.problem_pack(list(problems) or [choice(), short()], name, **metadata)
    file = io.BytesIO()
    write_problem_pack(file, pack.metadata_bytes, pack.jsonl_bytes)
    file.seek(0)
    made = curate.import_release(None, file).release
    made.is_public = True
    made.save()
    release_actions.publish(made)
    return made


def reply(task_id: str, text: str) -> dict[str, Any]:
    return packs.solution(task_id, text, ANSWER_PATH)


def submitted(entrant: Entrant, made: Release, track: Track, *lines: dict[str, Any]) -> Submission:
    file = packs.solution_pack(list(lines), made.datapack_release)
    draft = read_submission(file, "pack-solutions.tar.gz", catalogue_of(made))
    metadata = SubmissionMetadata(entrant=entrant, release=made, tracks=[track], asks_to_count=True)
    return submit(entrant.owner, metadata, draft).submission
