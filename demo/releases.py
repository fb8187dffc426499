"""Reads what the demo grades on this machine: each release's problems and entrants."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from demo.entrants import DemoEntrant, load_entrants
from demo.parts import part_of
from podium.functions.manifests import ManifestMaker
from problems.formats.compute_eval.packs import ProblemPack
from problems.formats.functions.pack import read_function_directory
from problems.spec.kinds import Kind
from runners.agent.sandbox import Sandbox

COMMANDS, FUNCTIONS, TEXTBOOK = (Path("examples", name) for name in ("demo", "functions-cpu", "textbook-cpu"))
EXERCISES = frozenset({"cpp/vector-blend"})
"""The textbook's exercises that the demo grades: building all would take minutes."""
LEFT_OUT = frozenset({"binned-counts", "causal-attention", "hamming-distances", "small-matmuls"})
"""The functions that the demo does not grade: with them, verifying takes half as long again."""


@dataclass(frozen=True)
class DemoRelease:
    """A release as it is imported, and the entrants that are submitted to it."""

    pack: ProblemPack
    entrants: Sequence[DemoEntrant]


def load_releases(sandbox: Sandbox) -> Iterator[DemoRelease]:
    """The command problems, then functions and a release of all kinds if `sandbox` can run them. Raises PackRefused."""
    yield _load(COMMANDS, sandbox)
    if not why_without_functions(sandbox):
        yield without(LEFT_OUT, _load(FUNCTIONS, sandbox))
        yield _textbook(sandbox)


def why_without_functions(sandbox: Sandbox) -> str:
    """The reason why the demo leaves the function problems out; empty if it does not."""
    if sandbox.name != "unconfined":
        return ""
    return (
        f"The releases {FUNCTIONS} and {TEXTBOOK} are left out: a function problem needs a sandbox that keeps the"
        " solution apart from its checker. SANDBOX=unconfined does not; use bubblewrap or docker."
    )


def _load(folder: Path, sandbox: Sandbox) -> DemoRelease:
    """Manifests of function problems are made in the sandbox, from definitions that are not run outside it."""
    return DemoRelease(read_function_directory(folder, ManifestMaker(sandbox)), load_entrants(folder / "entrants"))


def _textbook(sandbox: Sandbox) -> DemoRelease:
    release = _load(TEXTBOOK, sandbox)
    commands = {one.problem.task_id for one in release.pack.records if one.problem.kind is Kind.COMMAND}
    return without(commands - EXERCISES, release)


def without(left_out: Collection[str], release: DemoRelease) -> DemoRelease:
    """The release without these problems, which its description says, and its entrants without their samples."""
    kept = {record.problem.task_id for record in release.pack.records} - set(left_out)
    slugs = {task_id.replace("/", "-") for task_id in kept}
    pack = part_of(_described(release.pack, len(kept)), kept)
    return DemoRelease(pack, [_of_slugs(one, slugs) for one in release.entrants])


def _described(pack: ProblemPack, n_kept: int) -> ProblemPack:
    n_all = len(pack.records)
    words = f"To be ready sooner, this demo leaves out {n_all - n_kept} of the release's {n_all} problems."
    described = {"description": f"{(pack.metadata.description or '').strip()}\n\n{words}".strip()}
    return replace(pack, metadata=pack.metadata.model_copy(update=described))


def _of_slugs(entrant: DemoEntrant, slugs: Collection[str]) -> DemoEntrant:
    expected = {place: verdict for place, verdict in entrant.expected.items() if place[0] in slugs}
    return replace(entrant, expected=expected)
