"""Digests change with what they stand for and with nothing else."""

import pytest

from problems.spec.digests import grading_digest, record_md5
from problems.spec.profile import Profile
from tests.formats.sources import PROBLEMS, members, problem


def test_golden_hashes() -> None:
    lines = members(PROBLEMS)["problems.jsonl"].splitlines(keepends=True)
    assert record_md5(lines[0]) == "c679a9792883712da841cc7cb4eafb34"
    assert record_md5(lines[4]) == "a5da104065d831f889eec806c789df05"


@pytest.mark.parametrize(
    "changes",
    [
        {"prompt": "Other words."},
        {"date": "2030-01-01"},
        {"metadata": {"difficulty": "hard", "tags": [], "releases": ["2026-1"], "do_not_release": True}},
        {"metadata": {"podium": {"title": "New title", "starter": [{"path": "a", "content": ""}]}}},
    ],
)
def test_words_for_people_do_not_change_the_grading_digest(changes: dict) -> None:
    plain = problem(Profile.PODIUM, metadata={"podium": {}} if "podium" in changes.get("metadata", {}) else {})
    assert grading_digest(problem(Profile.PODIUM, **changes), None) == grading_digest(plain, None)


@pytest.mark.parametrize(
    "changes",
    [
        {"test_command": "true"},
        {"timeout_seconds": 5},
        {"test_files": []},
        {"context_files": []},
        {"baseline_solution": None},
        {"metadata": {"podium": {"flops": 3}}},
    ],
)
def test_what_a_result_depends_on_changes_the_grading_digest(changes: dict) -> None:
    assert grading_digest(problem(Profile.PODIUM, **changes), None) != grading_digest(problem(Profile.PODIUM), None)


def test_withheld_files_are_part_of_the_grading_digest() -> None:
    subject = problem()
    digests = {grading_digest(subject, choice) for choice in (None, [], ["a"], ["a", "b"], ["b", "a"])}
    assert len(digests) == 4
