"""The commands `podium uploads pack` and `check`, which a site's worker runs in a process of their own.

They write events of `problems.formats.packing_events` to standard output, one a line.
"""

import ctypes
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, cast

import typer

from problems.formats.compute_eval.packs import ProblemPack, write_problem_pack
from problems.formats.errors import PackRefused
from problems.formats.folder_archive import folder_name, unpack_folder
from problems.formats.functions.folder import function_folders
from problems.formats.packing_events import (
    NO_SANDBOX,
    Begun,
    Done,
    Event,
    Failed,
    Note,
    PackingKind,
    cut,
    line_of,
)
from problems.formats.pmpp.checkout import task_folders
from problems.formats.pmpp.packs import TaskReport, read_pmpp_checkout
from problems.spec.errors import RecordError
from problems.spec.function.manifest import Manifest
from problems.spec.function.problem import FunctionProblem
from runners.agent.sandbox import Sandbox, SandboxUnavailable, choose
from runners.wire.extras import how_to_install

if TYPE_CHECKING:
    from podium.problems.readers import SetFormat

FINE, FAILED = 0, 2
UNCONFINED = (
    "PODIUM_SANDBOX names `unconfined`, which hides nothing of this machine, so no uploaded Python runs here. Set it to"
    " `bubblewrap` or `docker` for the site's worker, or unset it."
)
_PR_SET_PDEATHSIG = 1
app = typer.Typer(help="Pack uploaded folders, as a site's worker does.", no_args_is_help=True)


@app.command()
def check() -> None:
    """Say whether this machine can confine uploaded Python. Exit status: 0 it can, 2 it cannot."""
    with _told():
        _confining().close()
        _tell(Done(n_problems=0))


@app.command()
def pack(
    archive: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="A zip, tar or tar.gz of a folder.")],
    kind: Annotated[PackingKind, typer.Option("--as", help="What it holds.")],
    out: Annotated[Path, typer.Option(help="The pack to write.")],
    release: Annotated[str, typer.Option(help="The pack's name where no release.yaml gives one.")],
    seconds: Annotated[int, typer.Option(min=1, help="Wall time after which this process ends in any case.")] = 900,
    problem_seconds: Annotated[float, typer.Option(min=0.1, help="Wall time of one definition.")] = 120.0,
    memory_mib: Annotated[int, typer.Option(min=64, help="Memory of one definition, or of all files of a set.")] = 4096,
    device: Annotated[Literal["gpu", "cpu"], typer.Option(help="Where the tensors of a set's problems are.")] = "gpu",
) -> None:
    """Unpack an archive and make a pack of it. Definitions and files of sets run in a sandbox alone.

    Exit status: 0 written, 2 nothing was written.
    """
    _end_with_parent()
    signal.alarm(seconds)
    with _told(), tempfile.TemporaryDirectory(prefix="podium-upload-") as folder:
        root = _unpacked(archive, Path(folder))
        with _without(root):
            if kind.is_set:
                made = _set(kind, root, release, device, problem_seconds, memory_mib)
            elif kind is PackingKind.FUNCTIONS:
                made = _functions(root, release, problem_seconds, memory_mib)
            else:
                made = _pmpp(root, release)
        write_problem_pack(out, made.metadata_bytes, made.jsonl_bytes)
        _tell(Done(n_problems=len(made.records)))


def _end_with_parent() -> None:
    """A worker that is killed cannot stop this process; the kernel does."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


@contextmanager
def _told() -> Iterator[None]:
    """Turn a refusal into an event and the exit status."""
    try:
        yield
    except PackRefused as refused:
        _fail(refused.code, refused.every_message)
    except RecordError as error:
        _fail("bad_record", [str(error)])
    except SandboxUnavailable as missing:
        _fail(NO_SANDBOX, [str(missing)])
    except ModuleNotFoundError as error:
        _fail(NO_SANDBOX, [f"Sandboxes need the package {error.name}: {how_to_install('node')}"])


def _fail(code: str, faults: list[str]) -> None:
    _tell(Failed(code=code, faults=[cut(words) for words in faults]))
    raise typer.Exit(FAILED)


def _tell(event: Event) -> None:
    sys.stdout.write(line_of(event))
    sys.stdout.flush()


def _unpacked(archive: Path, folder: Path) -> Path:
    root = folder / folder_name(archive.name)
    root.mkdir()
    with archive.open("rb") as file:
        return unpack_folder(file, root)


@contextmanager
def _without(root: Path) -> Iterator[None]:
    """Faults name files as the archive does, without the folder in which it was unpacked."""
    try:
        yield
    except PackRefused as refused:
        for one in (refused, *refused.also):
            one.message = one.message.replace(f"{root}/", "").replace(str(root), "the archive")
        raise


def _functions(root: Path, release: str, seconds: float, memory_mib: int) -> ProblemPack:
    from podium.functions.manifests import LIMITS, ManifestMaker  # a node's packages load slowly
    from problems.formats.functions.pack import read_function_directory
    from runners.agent import capabilities

    folders = function_folders(root)
    box = _confining()
    try:
        uuids = tuple(gpu.uuid for gpu in capabilities.gpus_by_nvidia_smi())[:1]
        limits = replace(LIMITS, wall_seconds=seconds, memory_bytes=memory_mib << 20)
        maker = ManifestMaker(box, uuids, limits)

        def manifest_of(folder: Path) -> Manifest:
            number = folders.index(folder) + 1
            _tell(Begun(number=number, n_problems=len(folders), name=cut(folder.name)))
            return maker(folder)

        made = read_function_directory(root, manifest_of, release)
    finally:
        box.close()
    problems = [record.problem for record in made.records]
    read_only = sum(isinstance(one, FunctionProblem) and not one.manifest.is_run for one in problems)
    if read_only:
        _tell(Note(words=f"{read_only} function problems were read and not run, because torch is not installed here."))
    return made


def _set(
    kind: PackingKind, root: Path, release: str, device: Literal["gpu", "cpu"], seconds: float, memory_mib: int
) -> ProblemPack:
    from podium.problems.sandboxed import CallBounds  # a node's packages load slowly
    from podium.uploads.sets import pack_set

    box = _confining()
    try:
        bounds = CallBounds(seconds, memory_mib << 20)
        return pack_set(cast("SetFormat", kind.value), root, release, device, box, bounds, _tell)
    finally:
        box.close()


def _confining() -> Sandbox:
    """Raises SandboxUnavailable with the remedy where nothing confines."""
    box = choose()
    if box.name == "unconfined":
        box.close()
        raise SandboxUnavailable(UNCONFINED)
    return box


def _pmpp(root: Path, release: str) -> ProblemPack:
    """Packs a checkout by reading its tasks. Nothing of it runs."""
    folders = task_folders(root)

    def begin(folder: Path) -> None:
        _tell(Begun(number=folders.index(folder) + 1, n_problems=len(folders), name=cut(folder.name)))

    made = read_pmpp_checkout(root, release, begin)
    for task in made.tasks:
        for words in _notes(task):
            _tell(Note(words=cut(words)))
    return made.pack


def _notes(task: TaskReport) -> Iterator[str]:
    if task.refused:
        yield f"Left out. {task.refused}"
        return
    yield from (f"{task.name}: {one.path} is not imported: {one.reason}." for one in task.dropped)
    yield from (f"{task.name}: {words}" for words in task.notes)
