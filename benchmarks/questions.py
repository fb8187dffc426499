"""Measures settling 10,000 replies to questions: reading them, comparing, and storing the results."""

import io
import json
import sys
import time
from typing import Any

from benchmarks.figures import BenchFigure, show
from benchmarks.site import temporary_site

QUESTIONS, SAMPLES, LIMIT_SECONDS = 500, 20, 2.0
REPLY = "Let me think step by step. A block has a number of warps; each has 32 lanes.\n" * 20


def run() -> list[BenchFigure]:
    with temporary_site():
        from leaderboard.settle.questions import settle_questions

        _submit()
        started = time.perf_counter()
        settled = settle_questions()
        elapsed_seconds = time.perf_counter() - started
        _check(settled)
    return [
        BenchFigure(f"{settled:,} replies settled", elapsed_seconds, "s", LIMIT_SECONDS, "max"),
        BenchFigure("one reply", elapsed_seconds / settled * 1e6, "µs", None, "max"),
    ]


def _check(settled: int) -> None:
    from leaderboard.models import Evaluation

    passed = Evaluation.objects.filter(current_result__verdict="passed").count()
    if (settled, passed) != (QUESTIONS * SAMPLES, QUESTIONS * SAMPLES // 2):
        raise RuntimeError(f"{settled} replies were settled and {passed} passed")


def _submit() -> None:
    """Every second sample of each question is right."""
    from benchmarks import rows
    from leaderboard.actions.curation.tracks import no_hardware
    from leaderboard.actions.intake.submit import submit
    from leaderboard.intake.catalogue import catalogue_of
    from leaderboard.rows.submissions import SubmissionMetadata
    from problems.formats.submission import read_submission

    person, track = rows.organiser(), no_hardware()
    release = rows.published_release(_pack(), person, track)
    lines = b"".join(_reply(n, k) for n in range(QUESTIONS) for k in range(SAMPLES))
    incoming = read_submission(io.BytesIO(lines), "replies.jsonl", catalogue_of(release))
    submit(person, SubmissionMetadata(rows.entrant(person), release, [track]), incoming)


def _pack() -> bytes:
    from problems.formats.compute_eval.packs import problem_metadata_for, write_problem_pack
    from problems.spec.pack import parse_problem_metadata
    from problems.spec.profile import Profile
    from problems.spec.records import record_from

    records = [record_from(_question(n), Profile.PODIUM) for n in range(QUESTIONS)]
    lines = [(one.task_id, one.to_line()) for one in records]
    fields = {"release": "quiz", "profile": "podium/1", "total_count": len(lines)}
    file = io.BytesIO()
    write_problem_pack(file, problem_metadata_for(parse_problem_metadata(fields), lines), [line for _, line in lines])
    return file.getvalue()


def _question(n: int) -> dict[str, Any]:
    own: dict[str, Any] = {"kind": "choice", "choices": ["one", "two", "three", "four"], "answer": "B"}
    if n % 2:
        own = {"kind": "short_answer", "answer": "4096"}
    common = {"task_id": f"qa-1-{n}", "date": "", "prompt": "?", "metadata": {}, "group": f"ch{n % 18:02d}"}
    return {**common, "type": own["kind"], **own}


def _reply(n: int, k: int) -> bytes:
    right = "4,096 bytes" if n % 2 else "**B**"
    text = f"{REPLY}Final: {right if k % 2 else 'no idea'}\nSample {k}"
    record = {
        "schema_version": 1, "type": "file", "task_id": f"qa-1-{n}",
        "files": [{"path": "answer.txt", "content": text}],
    }  # fmt: skip
    return json.dumps(record).encode() + b"\n"


if __name__ == "__main__":
    sys.exit(0 if show(run()) else 1)
