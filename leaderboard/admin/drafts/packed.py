"""Fields that the form of a function problem takes from a pack: everything that packing makes in a sandbox."""

from typing import Any

from problems.actions.drafts import fields_of
from problems.formats.compute_eval.packs import read_problem_pack
from problems.formats.errors import PackRefused
from problems.spec.kinds import Kind

_TAKEN = ("definition", "manifest", "languages", "device", "baseline_solution", "other_baselines")


def packed_function(upload: Any, record: dict[str, Any]) -> None:
    """Set what packing makes to that of the pack's function problem. Raises PackRefused.

    Of several the one with the record's task_id is taken.
    """
    found = [one.problem for one in read_problem_pack(upload.file).records if one.problem.kind == Kind.FUNCTION]
    same = [one for one in found if one.task_id == record["task_id"]] or found
    if len(same) != 1:
        names = ", ".join(one.task_id for one in found[:5])
        raise PackRefused(
            "no_function" if not found else "several_functions",
            f"The pack has {len(found)} function problems{f' ({names})' if found else ''}. It must have one, or one"
            f" with the task_id {record['task_id']}.",
        )
    made = fields_of(same[0])
    record.update({name: made[name] for name in _TAKEN})
    for solution in (record["baseline_solution"], *record["other_baselines"].values()):
        if solution:
            solution["task_id"] = record["task_id"]
    known_bad = (made["metadata"].get("podium") or {}).get("known_bad")
    podium = record["metadata"].setdefault("podium", {})
    podium.pop("known_bad", None)
    podium.pop("starter", None)
    if known_bad:
        podium["known_bad"] = known_bad
