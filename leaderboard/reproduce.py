"""What a reader needs to run a sample again: the command of `podium evaluate`, and digests of all that went in."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from leaderboard.models import Evaluation, Result
from leaderboard.models.evaluation import ResultOrigin
from problems.spec.kinds import SITE_KINDS
from runners.wire.protocol import Profiler, TimingPolicy, Verdict

_COMPUTE_EVAL = "compute-eval"
"""The build policy under which build commands ran unchanged."""
_SANDBOXES = ("docker", "bubblewrap")
_FACTS = {
    "image": "Image", "toolkit": "Toolkit", "driver": "Driver", "gpu": "GPU", "cpu_model": "CPU",
    "kernel": "Kernel", "agent_version": "Podium", "judge_version": "Judge version",
}  # fmt: skip


@dataclass(frozen=True)
class Recipe:
    """How to run one sample again. Digests are lower-case hex."""

    command: str
    problems_file: str
    solutions_file: str
    """One sample as a pack, as the site gives it to those who may read it."""
    digests: Mapping[str, str]
    """By what they are of; in words."""
    machine: Sequence[tuple[str, str]]
    """Label and value of what ran it; what is not known is left out."""


def recipe_of(evaluation: Evaluation, result: Result) -> Recipe | None:
    """None where nothing was judged: a sample that the site refused or skipped."""
    if result.verdict == Verdict.SKIPPED or not evaluation.sample.solution_sha256:
        return None
    release, problem = evaluation.submission.release, evaluation.problem
    problems, solutions = f"{release.datapack_release}-problems.tar.gz", solutions_file(evaluation)
    known = result.provenance
    arguments = ["podium", "evaluate", "--problems", problems, "--solutions", solutions, *_options(result)]
    digests = {"problems.jsonl of the problem pack, sha256": release.digest}
    if problem.kind not in SITE_KINDS:  # an answer of a few letters is found by comparing digests
        digests |= {
            f"The record of {problem.task_id}, md5 in the pack's metadata": problem.record_md5,
            "What grading depends on, sha256": problem.grading_digest,
            "The sample's record, sha256": evaluation.sample.solution_sha256,
            "The build's product, sha256 of all its inputs": known.get("artefact_key") or "",
        }
    return Recipe(
        command=shlex.join(arguments),
        problems_file=problems,
        solutions_file=solutions,
        digests={name: digest for name, digest in digests.items() if digest},
        machine=[(label, str(known[name])) for name, label in _FACTS.items() if known.get(name)],
    )


def solutions_file(evaluation: Evaluation) -> str:
    return f"evaluation-{evaluation.pk}-solutions.tar.gz"


def _options(result: Result) -> list[str]:
    """The options that repeat what its node did. Those of another machine's build apply to that machine alone."""
    known: Mapping[str, Any] = result.provenance
    options: list[str] = []
    if known.get("sandbox") in _SANDBOXES:
        options += ["--sandbox", known["sandbox"]]
    if known.get("sandbox") == "docker" and known.get("image"):
        options += ["--image", known["image"]]
    if known.get("timing_policy") in list(TimingPolicy):
        options += ["--timing", known["timing_policy"]]
    profiler = str(known.get("profiler") or "").partition(" ")[0]
    if profiler in (Profiler.CUPTI, Profiler.NCU):
        options += ["--profile", profiler]
    if result.origin != ResultOrigin.SITE:
        options.append("--benchmark")
    if known.get("arch"):
        options += ["--arch", known["arch"]]
    elif known.get("build_policy") == _COMPUTE_EVAL:
        options += ["--arch", "as-written"]
    return options
