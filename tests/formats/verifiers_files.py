"""Rows and lines as versions of verifiers write them, made in the test."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any


def messages(question: str, reply: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    asked = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": question}]
    return asked, [{"role": "assistant", "content": reply}]


def row_015(number: int, question: str, reply: str, info: dict[str, Any] | None, **columns: Any) -> dict[str, Any]:
    """0.1.5: `id` counts rows, not examples; `info` is absent from all rows if the first row's is empty."""
    prompt, completion = messages(question, reply)
    times = {"generation_ms": 900.0, "scoring_ms": 80.0, "total_ms": 980.0}
    row = {"id": number, "prompt": prompt, "completion": completion, "task": "default", **times}
    return row | ({"info": info} if info is not None else {}) | {"reward": 0.0, **columns}


def row_016(number: int, question: str, reply: str, info: dict[str, Any], **columns: Any) -> dict[str, Any]:
    row = row_015(number, question, reply, info, **columns)
    return {"example_id": row.pop("id"), **row}


def trace(task_id: str, question: str, reply: str, **changes: Any) -> dict[str, Any]:
    """A trace of 0.4 with one turn; `id` names the example."""
    nodes = [
        {"parent": None, "message": {"role": "user", "content": question}, "sampled": False},
        {"parent": 0, "message": {"role": "assistant", "content": reply}, "sampled": True, "token_ids": [1, 2]},
    ]
    usage = {"prompt_tokens": 30, "cached_input_tokens": 10, "completion_tokens": 5}
    fields = {
        "version": 1,
        "task": {"type": "T", "data": {"idx": 0, "id": task_id, "prompt": question}},
        "agent": {"name": "agent", "trainable": True},
        "nodes": nodes,
        "calls": [{"node": 1, "finish_reason": "stop", "usage": usage}],
        "rewards": {"passed": {"score": 1.0, "weight": 0.5}},
        "ok": True,
        "errors": [],
    }
    return fields | changes


def episode(*traces: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {"id": "e", "env": {"id": "x"}, "task": {"type": "T", "data": {"id": "a/1"}}, "traces": [*traces]} | changes


def write(folder: Path, rows: Sequence[dict[str, Any]], name: str = "results.jsonl") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return folder / name
