"""ComputeEval's side, with a stand-in for its package."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.compute_eval_gpu.packs import Packs
from benchmarks.compute_eval_gpu.process import EndedProcess
from benchmarks.compute_eval_gpu.refused import BenchmarkRefused, RunFailed
from benchmarks.compute_eval_gpu.rival import Rival, end
from tests.benchmarks.checkout import GRADES, HANGS, RELEASE, make_checkout, needs_make, some_problems

pytestmark = pytest.mark.rest


def rival(folder: Path, evaluation: str = GRADES) -> Rival:
    checkout = make_checkout(folder / "check out", some_problems(1), evaluation)
    one = Rival(checkout, sys.executable, folder / "the rival", 7)
    one.make_ready()
    return one


def run(one: Rival, folder: Path, limit_seconds: float = 60.0) -> EndedProcess:
    return one.run(Packs(RELEASE, folder / "packs"), folder / "rows.jsonl", limit_seconds)


def test_it_is_run_with_its_library_and_workers(tmp_path: Path) -> None:
    one = rival(tmp_path)
    ended = run(one, tmp_path)
    row = json.loads((tmp_path / "rows.jsonl").read_text())
    assert (ended.status, row["n_workers"]) == (0, 7)
    assert 0 <= ended.seconds < 60
    assert 0 < ended.cpu_seconds < 60
    assert str(one.library) in (tmp_path / "rows.log").read_text()


def test_its_imports_are_part_of_its_time(tmp_path: Path) -> None:
    one = rival(tmp_path)
    module = one.checkout / "compute_eval" / "data" / "data_model.py"
    module.write_text(f"import time\ntime.sleep(0.5)\n{module.read_text()}")
    assert run(one, tmp_path).seconds >= 0.5


def test_it_is_ended_at_the_limit(tmp_path: Path) -> None:
    ended = run(rival(tmp_path, HANGS), tmp_path, limit_seconds=0.2)
    assert ended.status is None
    assert 0.2 <= ended.seconds < 60


def test_a_stub_stands_in_for_openai_where_that_is_missing(tmp_path: Path) -> None:
    missing = importlib.util.find_spec("openai") is None
    one = rival(tmp_path)
    one.make_ready()
    assert (one.folder / "stub").exists() == missing, "its own stub does not count as the package"


def test_a_python_that_cannot_import_it_is_refused(tmp_path: Path) -> None:
    one = rival(tmp_path)
    (one.checkout / "compute_eval" / "evaluation.py").write_text("import no_such_package\n")
    with pytest.raises(BenchmarkRefused, match=r"No module named 'no_such_package'.*see --rival-python"):
        one.make_ready()


def test_its_failure_is_told_with_its_last_words(tmp_path: Path) -> None:
    with pytest.raises(RunFailed, match=r"exit status 1:\n[\s\S]*out of luck"):
        run(rival(tmp_path, 'raise SystemExit("out of luck")'), tmp_path)


@needs_make
def test_its_profiler_is_made_outside_the_checkout(tmp_path: Path) -> None:
    one = rival(tmp_path)
    one.build_profiler()
    assert one.library.read_text() == "made\n"
    assert not list(one.checkout.rglob("*.so"))


@needs_make
def test_a_profiler_that_does_not_compile_fails_the_part(tmp_path: Path) -> None:
    one = rival(tmp_path)
    (one.checkout / "compute_eval" / "cuda_tools" / "Makefile").write_text("$(TARGET):\n\techo no CUPTI >&2; false\n")
    with pytest.raises(RunFailed, match="no CUPTI"):
        one.build_profiler()


def test_its_commands_end_with_it() -> None:
    program = (
        "import subprocess\nsubprocess.Popen(['sh', '-c', 'echo started; sleep 600; :'], start_new_session=True).wait()"
    )
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE)
    assert process.stdout
    with process.stdout as stream:
        assert stream.readline() == b"started\n"
        end(process)
        assert stream.read() == b"", "this ends when nobody is left who could write"
