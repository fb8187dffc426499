"""The commands `podium functions new`, `check`, `pack` and `run`."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from podium.evaluation.sandboxes import SandboxName
from podium.functions.manifests import ManifestMaker
from podium.functions.summary import summary_of
from podium.functions.templates import Arrays, new_problem
from podium.refusals import refuse, refusing, say
from problems.formats.compute_eval.packs import ProblemPack, read_problem_pack, write_problem_pack
from problems.formats.errors import PackRefused
from problems.formats.functions.comparison import differences
from problems.formats.functions.pack import read_function_directory
from problems.spec.function.problem import FunctionProblem
from runners.agent import capabilities
from runners.agent.devices.gpus import UnknownGpu
from runners.agent.devices.tool import ToolUnavailable
from runners.agent.sandbox import SandboxUnavailable, choose
from runners.wire.protocol import TimingPolicy

FINE, FAULTS = 0, 1
app = typer.Typer(help="Make, check, pack and try function problems.", no_args_is_help=True)

Root = Annotated[Path, typer.Argument(exists=True, file_okay=False, help="A problem's folder, or a tree of them.")]
Confined = Annotated[SandboxName | None, typer.Option("--sandbox", help="What confines the definitions.")]


@app.command()
def new(
    folder: Annotated[Path, typer.Argument(help="The folder to make. Its name becomes the slug.")],
    arrays: Annotated[Arrays, typer.Option(help="The library of the problem's arrays.")] = "numpy",
) -> None:
    """Make a folder with a small problem that works, to be changed into yours."""
    if folder.exists() and any(folder.iterdir()):
        refuse(f"{folder} is not empty")
    for name, text in new_problem(folder.name, arrays).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    say(f"Made {folder}. Change def.py and problem.md, then run: podium functions check {folder}")


@app.command()
def check(
    root: Root,
    sandbox: Confined = None,
    against: Annotated[Path | None, typer.Option(exists=True, help="A pack whose manifests must still hold.")] = None,
) -> None:
    """Run the definitions and print each problem's signature and cases.

    Exit status: 0 fine, 1 a case does not rank or a manifest has changed, 2 a problem is refused.
    """
    with refusing(PackRefused, SandboxUnavailable, ToolUnavailable, UnknownGpu):
        pack = _read(root, sandbox, "internal")
        stored = _functions(read_problem_pack(against)) if against else {}
    has_faults = False
    for problem in _functions(pack).values():
        _print("\n".join(summary_of(problem)))
        has_faults |= any(case.ranks is False for case in problem.manifest.cases)
        if problem.task_id in stored:
            changed = differences(stored[problem.task_id].manifest, problem.manifest)
            has_faults |= bool(changed)
            for words in changed:
                _print(f"  changed: {words}")
    raise typer.Exit(FAULTS if has_faults else FINE)


@app.command()
def pack(
    root: Root,
    out: Annotated[Path, typer.Option("--out", "-o", help="The pack to write, as spring-problems.tar.gz.")],
    release: Annotated[str, typer.Option(help="The pack's name where no release.yaml gives one.")] = "internal",
    sandbox: Confined = None,
) -> None:
    """Write a problem pack from a tree of problems, those of other kinds among them."""
    if not out.parent.is_dir():  # the definitions may run for minutes
        refuse(f"there is no folder {out.parent} for {out.name}: make it, or name another --out")
    with refusing(PackRefused, SandboxUnavailable, ToolUnavailable, UnknownGpu):
        made = _read(root, sandbox, release)
        write_problem_pack(out, made.metadata_bytes, made.jsonl_bytes)
    functions = _functions(made).values()
    read_only = sum(not one.manifest.is_run for one in functions)
    words = f"; {read_only} were read and not run, because torch is not installed here" if read_only else ""
    say(f"{out}: {len(made.records)} problems, {len(functions)} of them functions{words}.")


@app.command()
def run(
    folder: Annotated[Path, typer.Argument(exists=True, file_okay=False, help="The problem's folder.")],
    solution: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="A solution.cu, .cpp or .py.")],
    sandbox: Confined = None,
    timing: Annotated[TimingPolicy, typer.Option(help="How many processes a time rests on.")] = TimingPolicy.QUICK,
) -> None:
    """Judge one solution on this machine, as a node would.

    Exit status: 0 passed, 1 not passed, 2 the problem or this machine cannot be used.
    """
    from podium.functions.trial import judged  # a node's packages load slowly

    with refusing(PackRefused, SandboxUnavailable, ToolUnavailable, UnknownGpu):
        problems = list(_functions(_read(folder, sandbox, "internal")).values())
        if len(problems) != 1:
            raise PackRefused("several_problems", f"{folder} holds {len(problems)} function problems; name one")
        lines, passed = judged(problems[0], solution, sandbox.value if sandbox else None, timing)
    _print("\n".join(lines))
    raise typer.Exit(FINE if passed else FAULTS)


def _read(root: Path, sandbox: SandboxName | None, release: str) -> ProblemPack:
    box = choose(sandbox.value if sandbox else None)
    try:
        uuids = tuple(gpu.uuid for gpu in capabilities.gpus_by_nvidia_smi())[:1]
        return read_function_directory(root, ManifestMaker(box, uuids), release)
    finally:
        box.close()


def _functions(pack: ProblemPack) -> dict[str, FunctionProblem]:
    problems = [record.problem for record in pack.records]
    return {one.task_id: one for one in problems if isinstance(one, FunctionProblem)}


def _print(words: str) -> None:
    sys.stdout.write(words + "\n")
