"""Writes the replies of a complete run as a solutions pack, with its manifest."""

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from podium.generation.manifest import Settings, manifest_of
from podium.generation.outcomes import HEAD_CHARACTERS, TAIL_CHARACTERS
from podium.generation.problems import Problems
from podium.generation.replies import encodable, problem_of
from podium.generation.turns import Progressed, Turn
from problems.formats.compute_eval.packs import write_solution_pack
from problems.spec.pack import SolutionPackMetadata
from problems.spec.solution import FileSolution

SUFFIX = "-solutions.tar.gz"


def pack_name(release: str, model: str) -> str:
    """ComputeEval's name of a pack: `<release>-<model>-solutions.tar.gz`, with `-` for each `/`."""
    return f"{release}-{model.replace('/', '-')}{SUFFIX}"


def write_pack(
    path: Path, problems: Problems, settings: Settings, samples: Sequence[Progressed], *, debug: bool
) -> dict[str, Any]:
    """Write pack and manifest; returns the manifest."""
    is_agentic = settings.turns > 1
    solutions = [record_of(one, is_agentic=is_agentic, debug=debug) for one in samples]
    reasons = Counter(reason for one in solutions if (reason := problem_of(one)))
    kept = [turn.kept for one in samples for turn in one.turns]
    manifest = manifest_of(settings, kept, reasons, _agentic(settings, samples) if is_agentic else None)
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


def record_of(sample: Progressed, *, is_agentic: bool, debug: bool) -> FileSolution:
    """The record of a finished sample: the solution of its chosen turn. If turns may be several, or with `debug`, its
    turns; with `debug` the messages too."""
    extra: dict[str, Any] = {}
    if is_agentic or debug:
        extra |= {"turns": [_turn(one, sample) for one in sample.turns], "usage": _usage(sample)}
    if debug:
        extra |= {"messages": list(sample.messages)} if is_agentic else _compute_evals_debug(sample)
    return sample.chosen.solution.model_copy(update=extra) if extra else sample.chosen.solution


def _compute_evals_debug(sample: Progressed) -> dict[str, str]:
    """The keys of ComputeEval's debug mode."""
    by_role = {one["role"]: one["content"] for one in sample.messages}
    return {
        "system_prompt": by_role.get("system", ""),
        "prompt": by_role.get("user", ""),
        "generated_completion": encodable(sample.turns[0].kept.reply.text),
    }


def _turn(turn: Turn, sample: Progressed) -> dict[str, Any]:
    reply, outcome = turn.kept.reply, turn.outcome
    tried = {"verdict": outcome.verdict, "reason": outcome.reason} if outcome else {}
    return {
        "chosen": turn is sample.chosen,
        **({"generation_problem": turn.problem} if turn.problem else {}),
        **tried,
        "prompt_tokens": reply.prompt_tokens,
        "completion_tokens": reply.completion_tokens,
        "seconds": round(turn.kept.seconds, 3),
    }


def _usage(sample: Progressed) -> dict[str, int]:
    replies = [turn.kept.reply for turn in sample.turns]
    return {name: sum(getattr(one, name) for one in replies) for name in ("prompt_tokens", "completion_tokens")}


def _agentic(settings: Settings, samples: Sequence[Progressed]) -> dict[str, Any]:
    """Numbers of samples by their turns, and the reasons why they took no more."""
    taken = Counter(len(one.turns) for one in samples)
    return {
        "most_turns": settings.turns,
        "samples_by_turns": {str(number): taken[number] for number in sorted(taken)},
        "ended": dict(sorted(Counter(one.ended.value for one in samples if one.ended).items())),
        "shown_characters": HEAD_CHARACTERS + TAIL_CHARACTERS,
    }
