"""The showcase's Python solutions run in a process of their own, and the witness follows the harness.

The driver and CuPy are played by stand-ins on ordinary memory; processes, sandbox and witness are real.
"""

import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from runners.agent.ground.native import default_cache_directory
from runners.agent.sandbox import Outcome, Sandbox
from runners.wire.protocol import Witness
from tests.requirements import requires
from tests.sandbox.boxes import open_sandbox, runner

PARTS = Path(__file__).parent / "split"
SPLIT = Path(__file__).parents[2] / "examples" / "showcase" / "common" / "test" / "podium_split.py"
SHELL = "LD_LIBRARY_PATH=/workspace/driver python3 -I -B test/harness.py"
HONEST = "def double(x, out, factor):\n    out[:] = [factor * value for value in x]\n"

pytestmark = [requires("nvcc"), requires("bubblewrap")]
Judge = Callable[[str], Outcome]


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("driver") / "libcuda.so.1"
    options = ["-shared", "-Xcompiler", "-fPIC", "-cudart", "none", "-o", str(made)]
    subprocess.run(["nvcc", *options, str(PARTS / "driver.cpp")], check=True, capture_output=True)
    return made


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    sandbox = open_sandbox("bubblewrap", default_cache_directory())
    yield sandbox
    sandbox.close()


def open_folder() -> Path:
    """Where users without rights can reach it."""
    folder = Path(tempfile.mkdtemp(prefix="podium-split-"))
    folder.chmod(0o755)
    return folder


@pytest.fixture
def judge(driver: Path, sandbox: Sandbox) -> Iterator[Judge]:
    """Tests a `solution.py` with the harness, in bubblewrap and traced."""
    folder = open_folder()
    for place in ("driver", "test"):
        (folder / place).mkdir()
    shutil.copy(driver, folder / "driver")
    for part in ("harness.py", "cupy.py"):
        shutil.copy(PARTS / part, folder / "test")
    # The contestant's process finds packages where the interpreter has them; the one that stands for CuPy is not there.
    prefix = 'import sys\nsys.path.append("/workspace/test")\n'
    (folder / "test" / "podium_split.py").write_text(prefix + SPLIT.read_text("utf-8"), "utf-8")

    def run(solution: str) -> Outcome:
        (folder / "solution.py").write_text(solution, "utf-8")
        environment = {"PODIUM_SOLUTION_FILES": "solution.py"}
        return runner(sandbox, folder)(SHELL, trace=True, harness="separate", environment=environment)

    yield run
    shutil.rmtree(folder)


def test_an_honest_solution_passes_and_its_harness_is_seen_to_end(judge: Judge) -> None:
    outcome = judge(HONEST)
    assert (outcome.exit_code, outcome.witness) == (0, Witness.SEEN), outcome.stderr
    assert outcome.stderr.split("\n")[:2] == ["pushed bench_region", "popped"]


def test_what_ends_hard_after_the_last_call_still_passes(judge: Judge) -> None:
    outcome = judge("import atexit, os\natexit.register(os._exit, 3)\n" + HONEST)
    assert (outcome.exit_code, outcome.witness) == (0, Witness.SEEN), outcome.stderr


CHEATS = {
    "a wrong answer": "def double(x, out, factor): out[:] = list(x)",
    "nothing at all": "def double(x, out, factor): pass",
    "os._exit at import": "import os; os._exit(0)",
    "sys.exit at import": "import sys; sys.exit(0)",
    "SystemExit in a call": "def double(x, out, factor): raise SystemExit(0)",
    "an exception": "def double(x, out, factor): raise ValueError",
    "answers ahead": (
        "import os\nfor end in range(3, 20):\n    try: os.write(end, b'+++')\n    except OSError: pass\n"
        "def double(x, out, factor): pass"
    ),
    "a harness told to end": (
        "import os, signal\nos.kill(os.getppid(), signal.SIGTERM)\ndef double(x, out, factor): pass"
    ),
    "the harness's end announced for it": (
        "import os\nos.kill(os.getppid(), int(os.environ['PODIUM_END_SIGNAL']))\nos._exit(0)"
    ),
    "a module in the harness's way": (
        "import os\nfor name in ('json', 'os', 'ctypes'):\n"
        "    open(f'test/{name}.py', 'w').write('raise SystemExit(0)')\nos._exit(0)"
    ),
}


@pytest.mark.parametrize("solution", CHEATS.values(), ids=CHEATS.keys())
def test_what_does_not_do_the_work_fails(judge: Judge, solution: str) -> None:
    outcome = judge(solution)
    assert not outcome.succeeded, outcome


@pytest.mark.parametrize("what", ["mem", "environ", "fd/0"])
def test_the_harness_is_closed_to_the_solution(judge: Judge, what: str) -> None:
    attempt = f"import os\ntry:\n    open(f'/proc/{{os.getppid()}}/{what}', 'rb')\n    print('open')\n"
    outcome = judge(attempt + "except PermissionError:\n    print('refused')\n" + HONEST)
    assert outcome.succeeded, outcome.stderr
    assert "refused" in outcome.stderr
