"""The judge of function problems at a table of its own: real judges in a sandbox of this machine, for problems and
solutions that tests write down."""

import hashlib
import tempfile
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

import pytest

from problems.formats.functions.inside.loaded import load
from problems.spec.profile import Profile
from problems.spec.record import ProblemRecord
from problems.spec.records import record_from
from problems.spec.solution import FileSolution, SourceFile
from runners.agent.devices.lanes import Lanes
from runners.agent.ground.events import Progress
from runners.agent.ground.native import default_cache_directory
from runners.agent.job.environment import NodeEnvironment
from runners.agent.job.job import Job
from runners.agent.judges.registry import Judges
from runners.agent.judges.report import Finished
from runners.agent.sandbox.policy import Outcome
from runners.wire.protocol import Capabilities, CaseReport, ResourceLimits, Witness
from tests.agent.machine import ruled
from tests.sandbox.boxes import BUBBLEWRAP, CONFINING, DOCKER, open_sandbox

MIB = 1 << 20
LIMITS = ResourceLimits(
    memory_bytes=512 * MIB, processes=64, file_bytes=64 * MIB, workspace_bytes=64 * MIB, build_seconds=60
)
ENDED = Outcome(0, None, False, False, False, "", "", False, 1.0, 1.0, 0, Witness.SEEN)
"""The outcome of a process without a fault."""
HEAD = "import numpy as np\nfrom podium_functions import Array, Case, Exact, FunctionProblem, Scalar, Tolerance\n"
SCALE = """
class Scale(FunctionProblem):
    parameters = (Array("x", "float32", "in", ("n",)), Array("y", "float32", "out", ("n",)), Scalar("n", "size_t"))
    accuracy = Tolerance(rtol=1e-5, atol=1e-6, reason="one rounding")
    cases = (Case("few", n=7), Case("many", n=5000))

    def inputs(self, case, rng):
        return {"x": rng.standard_normal(case.n, dtype=np.float32) + np.float32(5)}

    def reference(self, case, x):
        return x * np.float32(3)
"""
"""Every output is three times its input; no input is near zero."""
SCALE_CPP = """
#include <cstddef>
extern "C" void solution(const float* x, float* y, size_t n) { for (size_t i = 0; i < n; ++i) y[i] = 3 * x[i]; }
"""
SCALE_PYTHON = "def solution(x, y, n):\n    y[:] = 3 * x\n"

on_each_sandbox = pytest.mark.parametrize("table", CONFINING, indirect=True)
"""For a test of what each sandbox does in its own way: processes, memory, signals, mounts, channel, brake, and Python
itself, which is the image's. All other tests run in bubblewrap alone."""


def some_in_docker(names: Iterable[str], chosen: Collection[str], rest: Collection[str] = ()) -> pytest.MarkDecorator:
    """Parameters `table` and `name`: all names in bubblewrap, those in `rest` marked so; the chosen in Docker, too."""
    here = [
        pytest.param("bubblewrap", name, marks=[*BUBBLEWRAP.marks, *[pytest.mark.rest] * (name in rest)])
        for name in names
    ]
    there = [pytest.param("docker", name, marks=DOCKER.marks) for name in chosen]
    return pytest.mark.parametrize(("table", "name"), here + there, indirect=["table"])


def problem(definition: str, **changes: Any) -> ProblemRecord:
    """The record of a class, which follows HEAD."""
    text = HEAD + definition
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "def.py")
        path.write_text(text)
        facts = load(str(path)).facts() | {"is_run": True}
    record = {
        "kind": "function", "type": "function", "schema_version": 1, "task_id": "functions/1", "date": "2026-01-01",
        "prompt": "Write it.", "metadata": {}, "group": "tests", "definition": {"path": "def.py", "content": text},
        "manifest": facts, "languages": ["cpp", "python"], "device": "cpu",
    }  # fmt: skip
    return record_from(record | changes, Profile.PODIUM)


def source(text: str) -> SourceFile:
    """The solution's only file: C++ if it gives `solution` a C interface."""
    return SourceFile(path="solution.cpp" if 'extern "C"' in text else "solution.py", content=text)


class Table:
    """One node with nothing else to do."""

    def __init__(self, sandbox: str) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="podium-table-")
        folder = Path(self._folder.name)
        folder.chmod(0o755)  # the slots' users must reach it when the suite runs as root
        box = open_sandbox(sandbox, default_cache_directory())
        self.environment = NodeEnvironment.open("node-1", folder, box, Lanes(1, 1), Capabilities())
        self.judges = Judges(self.environment)

    def judge(
        self, record: ProblemRecord, solution: str, *, progress: Progress | None = None, **changes: Any
    ) -> Finished:
        """Judge one solution, given by its text."""
        facts: dict[str, Any] = {"limits": LIMITS, "image": self.environment.image_for("")} | changes
        digest = hashlib.sha256(record.to_line()).hexdigest()
        files = FileSolution(task_id=record.task_id, files=[source(solution)])
        rules, own = ruled(facts)
        return self.judges.judge(Job(record, digest, files, rules, **own), progress)

    @property
    def workspaces(self) -> list[Path]:
        return [one for one in Path(self._folder.name).glob("work/*/*") if one.is_dir()]

    def close(self) -> None:
        self.environment.close()
        self._folder.cleanup()


def shown(case: CaseReport) -> dict[str, Any]:
    """The case's fields by name."""
    return {field.name: field.value for field in case.fields}


def all_ms(done: Finished, case: str) -> list[float]:
    return next(one.calls_ms[0] for one in done.report.measurements if one.case == case)


def checkers_of(marker: str) -> list[int]:
    """Processes on this machine that check a problem whose class holds `marker`."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            is_checker = b"\0judge.checker\0" in (entry / "cmdline").read_bytes()
            if is_checker and marker in (entry / "cwd" / "def.py").read_text():
                found.append(int(entry.name))
        except OSError:
            continue
    return found
