"""Remedies by the code of a refusal of a submission. Most refusals name their remedy in their own words."""

REMEDIES = {
    "bad_archive": "Pack the files again, as a zip with deflate or as a .tar.gz.",
    "bad_metadata": "Correct metadata.json; docs/formats.md lists its keys.",
    "bomb": "Leave files out that are not solutions, and pack the rest again.",
    "invalid_sample": "Correct it before you send: an invalid sample is not graded and counts as failed.",
    "line_too_long": "Shorten the solution of this line; a record has the files and little else.",
    "missing_member": "Pack metadata.json and solutions.jsonl at the top of the archive, without a folder.",
    "not_gzip": "Pack metadata.json and solutions.jsonl as a .tar.gz.",
    "special_file": "Pack plain files only.",
    "too_large": "Send fewer samples at a time.",
    "too_many_members": "Send fewer files, in several submissions.",
    "too_many_samples": "Leave out the samples over this number.",
    "unknown_format": "Send a solutions pack (.tar.gz), a zip of folders named after task_ids, or JSON lines (.jsonl).",
    "unknown_task": "Name a task_id of the release, as its list of problems writes it, or leave the sample out.",
    "unreadable_line": 'Write one JSON object on each line: {"task_id": …, "files": [{"path": …, "content": …}]}.',
}


def remedy_of(code: str) -> str:
    """Empty where the message itself says what to do."""
    return REMEDIES.get(code, "")
