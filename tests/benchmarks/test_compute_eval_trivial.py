"""The measure of trivial samples, with a stand-in for ComputeEval's package."""

import sys
from pathlib import Path

import pytest

from benchmarks import compute_eval_trivial
from tests.benchmarks.checkout import make_checkout, some_problems
from tests.requirements import requires

GRADES_RIGHT = """
    import tarfile
    from pathlib import Path
    name = os.path.basename(given["solutions_datapack"])
    with tarfile.open(name) as pack, open(name.replace("-solutions.tar.gz", "-graded-solutions.jsonl"), "w") as file:
        for line in pack.extractfile("solutions.jsonl"):
            solution = json.loads(line)
            passed = "+ 1" not in solution["files"][0]["content"]
            file.write(json.dumps({"task_id": solution["task_id"], "solution": solution, "passed": passed}) + "\\n")
"""


@pytest.mark.rest
@requires("bubblewrap")
def test_it_prints_both_ratios_and_the_verdicts_agree(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(compute_eval_trivial, "PROBLEMS", 1)
    monkeypatch.setenv("CUPTI_PROFILER_LIB", "none")
    checkout = make_checkout(tmp_path / "checkout", some_problems(1), GRADES_RIGHT)
    status = compute_eval_trivial.main(["--compute-eval", str(checkout), "--rounds", "1"])
    lines = capsys.readouterr().out.splitlines()
    assert sum("against ComputeEval" in line for line in lines) == 2
    assert lines[-1] == "ok    verdicts that differ: 0  (≤ 0)"
    assert status == int(any(line.startswith("MISS") for line in lines))


def test_without_compute_eval_it_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--compute-eval", str(tmp_path), "--rival-python", sys.executable]
    assert compute_eval_trivial.main(arguments) == 2
    assert "cannot import ComputeEval" in capsys.readouterr().err
