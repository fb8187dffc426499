"""ComputeEval's side, with a stand-in for its package."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.compute_eval_gpu.packs import Packs
from benchmarks.compute_eval_gpu.refused import PartFailed, Refused
from benchmarks.compute_eval_gpu.rival import OPENAI_WORDS, Rival, _end
from tests.benchmarks.checkout import GRADES, HANGS, RELEASE, make_checkout, needs_make, some_problems


def rival(folder: Path, evaluation: str = GRADES, limit_seconds: float | None = 60.0) -> Rival:
    checkout = make_checkout(folder / "check out", some_problems(1), evaluation)
    return Rival(checkout, sys.executable, folder / "the rival", 7, limit_seconds)


def packs(folder: Path) -> Packs:
    return Packs(RELEASE, folder / "packs")


def test_it_is_run_with_its_library_and_workers(tmp_path: Path) -> None:
    one = rival(tmp_path)
    one.make_ready()
    ran = one.run(packs(tmp_path))
    row = json.loads((one.folder / packs(tmp_path).graded_name).read_text())
    assert (ran.ended, row["n_workers"]) == (True, 7)
    assert 0 <= ran.seconds < 60
    assert str(one.library) in (one.folder / "rival.log").read_text()


def test_its_imports_are_part_of_its_time(tmp_path: Path) -> None:
    one = rival(tmp_path)
    one.make_ready()
    module = one.checkout / "compute_eval" / "data" / "data_model.py"
    module.write_text(f"import time\ntime.sleep(0.5)\n{module.read_text()}")
    assert one.run(packs(tmp_path)).seconds >= 0.5


def test_what_does_not_end_in_time_took_at_least_that_long(tmp_path: Path) -> None:
    one = rival(tmp_path, HANGS, limit_seconds=0.2)
    one.make_ready()
    ran = one.run(packs(tmp_path))
    assert (ran.seconds, ran.ended) == (0.2, False)


def test_a_stub_stands_in_for_openai_where_that_is_missing(tmp_path: Path) -> None:
    missing = importlib.util.find_spec("openai") is None
    one = rival(tmp_path)
    assert one.make_ready() == (OPENAI_WORDS if missing else "")
    assert one.make_ready() == (OPENAI_WORDS if missing else ""), "its own stub does not count"


def test_a_python_that_cannot_import_it_is_refused(tmp_path: Path) -> None:
    one = rival(tmp_path)
    (one.checkout / "compute_eval" / "evaluation.py").write_text("import no_such_package\n")
    with pytest.raises(Refused, match=r"No module named 'no_such_package'.*see --rival-python"):
        one.make_ready()


def test_its_failure_is_told_with_its_last_words(tmp_path: Path) -> None:
    one = rival(tmp_path, 'raise SystemExit("out of luck")')
    one.make_ready()
    with pytest.raises(PartFailed, match=r"exit status 1:\n[\s\S]*out of luck"):
        one.run(packs(tmp_path))


@needs_make
def test_its_profiler_is_made_outside_the_checkout(tmp_path: Path) -> None:
    one = rival(tmp_path)
    one.folder.mkdir()
    one.build_profiler()
    assert one.library.read_text() == "made\n"
    assert not list(one.checkout.rglob("*.so"))


@needs_make
def test_a_profiler_that_does_not_compile_fails_the_part(tmp_path: Path) -> None:
    one = rival(tmp_path)
    (one.checkout / "compute_eval" / "cuda_tools" / "Makefile").write_text("$(TARGET):\n\techo no CUPTI >&2; false\n")
    with pytest.raises(PartFailed, match="no CUPTI"):
        one.build_profiler()


def test_its_commands_end_with_it() -> None:
    program = (
        "import subprocess\nsubprocess.Popen(['sh', '-c', 'echo started; sleep 600; :'], start_new_session=True).wait()"
    )
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE)
    assert process.stdout
    with process.stdout as stream:
        assert stream.readline() == b"started\n"
        _end(process)
        assert stream.read() == b"", "this ends when nobody is left who could write"
