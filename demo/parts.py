"""A release with some of its problems."""

from collections.abc import Collection

from problems.formats.compute_eval.packs import ProblemPack, problem_metadata_for, problem_pack_from


def part_of(pack: ProblemPack, task_ids: Collection[str]) -> ProblemPack:
    """The pack with these problems alone, in its own order; with all of them it is the pack itself."""
    lines = {one.problem.task_id: one.line for one in pack.records if one.problem.task_id in task_ids}
    metadata = problem_metadata_for(pack.metadata, lines.items())
    return problem_pack_from(metadata.to_bytes(), b"".join(lines.values()))
