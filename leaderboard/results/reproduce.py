"""The facts with which a reader runs a sample again: the command of `podium evaluate`, and digests of all that went
in."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.conf import settings

from leaderboard.models import Evaluation, Result
from leaderboard.models.submissions.evaluation import ResultOrigin
from leaderboard.submissions.rollouts import told_digest
from leaderboard.visibility import SubmissionView
from problems.spec.kinds import SITE_KINDS, Kind
from runners.wire.protocol import Profiler, TimingPolicy, Verdict

_COMPUTE_EVAL = "compute-eval"
"""The build policy under which build commands ran unchanged."""
_SANDBOXES = ("docker", "bubblewrap")
_FACTS = {
    "image": "Image", "toolkit": "Toolkit", "driver": "Driver", "gpu": "GPU", "cpu_model": "CPU",
    "kernel": "Kernel", "agent_version": "Podium", "judge_version": "Judge version",
}  # fmt: skip


@dataclass(frozen=True)
class ReproductionRecipe:
    """How to run one sample again. Digests are lower-case hex."""

    command: str
    """The command of `podium evaluate`, with both packs in the present folder."""
    reproduce: str
    """The command of `podium reproduce`, which fetches what it needs."""
    problems_file: str
    solutions_file: str
    """One sample as a pack, as the site gives it to those who may read it."""
    digests: Mapping[str, str]
    """Digests by the thing they belong to, in words."""
    machine: Sequence[tuple[str, str]]
    """Label and value of what ran it; what is not known is left out."""
    record_md5: str
    """The digest of the problem's record, as packs state it; empty for a question, whose answer could be found from
    it."""
    grading_digest: str
    solution_sha256: str
    """The digest of the sample's record as the reader downloads it; empty for a question."""
    timed_cases: Sequence[str] | None
    """The cases that are timed on the track, as fixed; None if they are not."""


def recipe_of(evaluation: Evaluation, result: Result, view: SubmissionView) -> ReproductionRecipe | None:
    """The reproduction; None for a sample that the site refused or skipped."""
    if result.verdict == Verdict.SKIPPED or not evaluation.sample.solution_sha256:
        return None
    release, problem = evaluation.submission.release, evaluation.problem
    problems, solutions = f"{release.datapack_release}-problems.tar.gz", solutions_file(evaluation)
    known = result.provenance
    arguments = ["podium", "evaluate", "--problems", problems, "--solutions", solutions, *_options(result)]
    digests = {"problems.jsonl of the problem pack, sha256": release.digest}
    is_disclosed = problem.kind not in SITE_KINDS  # an answer of a few letters is found by comparing digests
    record_sha256 = told_digest(evaluation.sample, view) if is_disclosed else ""
    timed_on = next((one for one in problem.on_tracks.all() if one.track_id == evaluation.track_id), None)
    if is_disclosed:
        digests |= {
            f"The record of {problem.task_id}, md5 in the pack's metadata": problem.record_md5,
            "What grading depends on, sha256": problem.grading_digest,
            "The sample's record, sha256": record_sha256,
            "The build's product, sha256 of all its inputs": known.get("artefact_key") or "",
            "The timed cases on the track, sha256": timed_on.digest if timed_on else "",
        }
    return ReproductionRecipe(
        command=shlex.join(arguments),
        problems_file=problems,
        solutions_file=solutions,
        digests={name: digest for name, digest in digests.items() if digest},
        machine=[(label, str(known[name])) for name, label in _FACTS.items() if known.get(name)],
        reproduce=_reproduce(evaluation, problems),
        record_md5=problem.record_md5 if is_disclosed else "",
        grading_digest=problem.grading_digest if is_disclosed else "",
        solution_sha256=record_sha256,
        timed_cases=timed_on.timed_cases if timed_on else None,
    )


def _reproduce(evaluation: Evaluation, problems_file: str) -> str:
    """The command. Only a function problem needs `--problems`: its class is in the pack."""
    arguments = ["podium", "reproduce", f"{settings.SITE_URL}{evaluation.get_absolute_url()}"]
    needs_pack = evaluation.problem.kind == Kind.FUNCTION
    return shlex.join([*arguments, *(["--problems", problems_file] if needs_pack else [])])


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
