"""Writes the replies of a complete run as a solutions pack, with its manifest."""

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from podium.generation.asked import Asked
from podium.generation.manifest import Settings, manifest_of
from podium.generation.problems import Problems
from podium.generation.prompts import Message
from podium.generation.replies import solution_of
from podium.generation.store import Kept
from problems.formats.compute_eval.packs import write_solution_pack
from problems.spec.pack import SolutionPackMetadata
from problems.spec.solution import FileSolution

SUFFIX = "-solutions.tar.gz"


def pack_name(release: str, model: str) -> str:
    """ComputeEval's name of a pack: `<release>-<model>-solutions.tar.gz`, with `-` for each `/`."""
    return f"{release}-{model.replace('/', '-')}{SUFFIX}"


def write_pack(
    path: Path, problems: Problems, settings: Settings, kept: Sequence[Kept], solutions: Sequence[FileSolution]
) -> dict[str, Any]:
    """Write pack and manifest; returns the manifest."""
    reasons = Counter(str(said) for one in solutions if (said := (one.model_extra or {}).get("generation_problem")))
    manifest = manifest_of(settings, kept, reasons)
    metadata = SolutionPackMetadata.model_validate(
        {"release": problems.release, "total_count": len(solutions), "groups": problems.groups},
        context={"profile": problems.profile},
    )
    head = json.dumps({**json.loads(metadata.to_bytes()), "generation": manifest}, indent=2).encode()
    write_solution_pack(path, head, [one.to_line() for one in solutions])
    manifest_path(path).write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")
    return manifest


def manifest_path(pack: Path) -> Path:
    return pack.with_name(pack.name.removesuffix(SUFFIX).removesuffix(".tar.gz") + "-manifest.json")


def replies_folder(pack: Path) -> Path:
    """Where the raw replies are kept, beside the pack."""
    return pack.with_name(pack.name.removesuffix(SUFFIX).removesuffix(".tar.gz") + "-replies")


def solution_from(asked: Asked, kept: Kept, messages: Sequence[Message] | None) -> FileSolution:
    """The record of a reply; with `messages`, the keys of ComputeEval's debug mode."""
    reply, debug = kept.reply, {}
    if messages is not None:
        by_role = {one["role"]: one["content"] for one in messages}
        debug = {
            "system_prompt": by_role.get("system", ""),
            "prompt": by_role.get("user", ""),
            "generated_completion": reply.text,
        }
    return solution_of(asked, reply.text, reply.finish_reason, reply.refusal, **debug)
