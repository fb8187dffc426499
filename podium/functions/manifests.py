"""Makes manifests by running definitions in a sandbox."""

import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from problems.formats.errors import PackRefused
from problems.formats.functions import inside
from problems.spec.errors import explain
from problems.spec.function.manifest import Manifest
from problems.spec.function.problem import DEFINITION_PATH
from runners.agent.ground.errors import SandboxFault
from runners.agent.sandbox import Command, Limits, Outcome, Sandbox

LIMITS = Limits(
    wall_seconds=600,
    memory_bytes=16 << 30,
    processes=1024,
    file_bytes=1 << 30,
    workspace_bytes=1 << 30,
    output_bytes=8 << 20,
)
INSIDE_FOLDER = Path(inside.__file__).parent


@dataclass(frozen=True)
class ManifestMaker:
    """Runs `inside.make_manifest`. On a GPU the definition draws real tensors; otherwise torch's have no values."""

    sandbox: Sandbox
    gpu_uuids: tuple[str, ...] = ()
    limits: Limits = LIMITS

    def __call__(self, folder: Path) -> Manifest:
        """The manifest of a problem's folder. Raises PackRefused."""
        where = folder / DEFINITION_PATH
        try:
            outcome = self._run(where)
        except SandboxFault as fault:
            raise PackRefused("sandbox", f"{where} could not be run: {fault}") from fault
        return _manifest(where, _answer(where, outcome, self.limits))

    def _run(self, definition: Path) -> Outcome:
        how = "--device cuda" if self.gpu_uuids else "--fake"
        shell = f"python -m inside.make_manifest {DEFINITION_PATH} {how}"
        with _workspace(definition) as workspace:
            return self.sandbox.run(Command(shell, workspace, self.limits, gpu_uuids=self.gpu_uuids))


@contextmanager
def _workspace(definition: Path) -> Iterator[Path]:
    """A folder with the definition and a copy of `inside`, which every sandbox shows at the same place."""
    folder = Path(tempfile.mkdtemp(prefix="podium-definition-"))
    try:
        folder.chmod(0o755)
        shutil.copytree(INSIDE_FOLDER, folder / "inside", ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copyfile(definition, folder / DEFINITION_PATH)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _answer(where: Path, outcome: Outcome, limits: Limits) -> dict[str, Any]:
    if outcome.timed_out:
        words = f"took longer than {limits.wall_seconds:g} s; use smaller cases, or pack on a machine with a GPU"
        raise PackRefused("timed_out", f"{where} {words}")
    if outcome.memory_exceeded:
        words = f"used more than {limits.memory_bytes >> 30} GiB; use smaller cases, or pack on a machine with a GPU"
        raise PackRefused("memory_exceeded", f"{where} {words}")
    try:
        found = json.loads(outcome.stdout)
    except ValueError:
        said = outcome.stderr.strip().splitlines() or [f"exit status {outcome.exit_code}"]
        raise PackRefused("no_manifest", f"{where} ended without a manifest: {said[-1][:500]}") from None
    if not isinstance(found, dict):
        raise PackRefused("no_manifest", f"{where} gave no manifest")
    return found


def _manifest(where: Path, found: dict[str, Any]) -> Manifest:
    if "error" in found:
        error = found["error"]
        place = f"{where} line {error['line']}" if error["line"] else str(where)
        raise PackRefused("bad_definition", f"{place}: {error['what']}; {error['remedy']}")
    try:
        return Manifest.model_validate(found)
    except ValidationError as error:
        raise PackRefused("bad_manifest", f"{where}: the manifest {explain(error)}") from error
