"""Releases with questions, and submissions of replies."""

import io
from typing import Any

from leaderboard.actions.curation import curate
from leaderboard.actions.intake.submit import submit
from leaderboard.intake.catalogue import catalogue_of
from leaderboard.models import Entrant, Submission, Track
from leaderboard.rows.submissions import SubmissionMetadata
from problems.actions import releases as release_actions
from problems.formats.compute_eval.packs import write_problem_pack
from problems.formats.submission import read_submission
from problems.models import Release
from tests import factories, packs
from tests.question_records import choice, short

ANSWER_PATH = "answer.txt"


def release(*problems: dict[str, Any], name: str = "questions-1", **metadata: Any) -> Release:
    """Published and public; the two questions if no problems are given."""
    pack = packs.problem_pack(list(problems) or [choice(), short()], name, **metadata)
    file = io.BytesIO()
    write_problem_pack(file, pack.metadata_bytes, pack.jsonl_bytes)
    file.seek(0)
    made = curate.import_release(None, file).release
    made.is_public, made.question_policy = True, "practice"
    made.save()
    release_actions.publish(made)
    return made


def reply(task_id: str, text: str) -> dict[str, Any]:
    return packs.solution(task_id, text, ANSWER_PATH)


def submitted(
    entrant: Entrant, made: Release, track: Track, *lines: dict[str, Any], counted: bool = True
) -> Submission:
    file = packs.solution_pack(list(lines), made.datapack_release)
    draft = read_submission(file, "pack-solutions.tar.gz", catalogue_of(made))
    metadata = SubmissionMetadata(entrant=entrant, release=made, tracks=[track], asks_to_count=counted)
    return submit(factories.submitter(entrant), metadata, draft).submission
