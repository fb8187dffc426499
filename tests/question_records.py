"""Records of questions for tests, free of Django."""

from typing import Any

EXPLANATION = "Explanation words: a block of 256 threads has 8 warps."
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
