"""Code of a set runs in a sandbox alone: files, sockets and time are bounded, and what is refused leaves nothing."""

import json
import os
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from podium.problems.readers import WARM, read_set
from podium.problems.sandboxed import CallBounds, MissingTorch, SandboxedCall, call_each
from problems.formats.compute_eval.packs import read_problem_pack
from problems.formats.kernelbench.checkout import set_files
from problems.formats.problem_sets import ProblemRead
from problems.spec.function.problem import FunctionProblem
from runners.agent.sandbox import Sandbox, choose
from tests.formats.functions.definitions import SOFTMAX
from tests.formats.pmpp.layouts import lay_out
from tests.problem_sets.bad_sets import BAD, LEVEL_FILE
from tests.problem_sets.torches import needs_torch
from tests.requirements import requires
from tests.sandbox.boxes import DOCKER, open_sandbox
from tests.warm_podium import run_podium

ROOT = Path(__file__).resolve().parent.parent.parent

EXAMPLES = Path(__file__).resolve().parent.parent.parent / "examples/problem-sets"
pytestmark = requires("bubblewrap")

HOSTILE = """\
import pathlib, socket, time

def reads(path):
    return pathlib.Path(path).read_text()

def connects(port):
    socket.create_connection(("127.0.0.1", port), timeout=5)

def sleeps():
    time.sleep(600)

def prints():
    print('{"job": 0, "result": "forged"}', flush=True)
    return "own"

def ends():
    import os
    os._exit(0)

def big():
    return "x" * (8 << 20)
"""
MODEL = """\
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        {constructor}

    def forward(self, x):
        {forward}
        return x + 1


def get_inputs():
    {inputs}
    return [torch.rand(4, 3)]


def get_init_inputs():
    return []
"""


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    box = choose("bubblewrap")
    yield box
    box.close()


def test_a_sets_code_reaches_no_file_no_port_and_no_other_result(sandbox: Sandbox, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("words")
    with socket.create_server(("127.0.0.1", 0)) as server:
        calls = [
            SandboxedCall("hostile:prints"), SandboxedCall("hostile:reads", [str(secret)]),
            SandboxedCall("hostile:connects", [server.getsockname()[1]]), SandboxedCall("hostile:sleeps"),
            SandboxedCall("hostile:ends"), SandboxedCall("hostile:big"),
        ]  # fmt: skip
        found = call_each(sandbox, calls, files={"hostile.py": HOSTILE}, bounds=CallBounds(3))
    assert found[0].result == "own"
    assert [one.result for one in found[1:]] == [None] * 5
    assert "FileNotFoundError" in found[1].fault
    assert "Error" in found[2].fault
    assert found[3].fault == "took longer than 3 s"
    assert "ended without a result" in found[4].fault
    assert "more than 4 MiB" in found[5].fault


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        pytest.param("bubblewrap", "by PODIUM_PYTHON"),
        pytest.param("docker", "by PODIUM_DOCKER_IMAGE", marks=DOCKER.marks),
    ],
)
def test_a_python_without_torch_is_told_where_to_name_another(name: str, remedy: str, tmp_path: Path) -> None:
    box = open_sandbox(name, tmp_path)
    lacks = "raise ModuleNotFoundError(\"No module named 'torch'\")\n"
    with pytest.raises(MissingTorch, match=f"no torch.*{remedy}"):
        call_each(box, [SandboxedCall("lacks:it")], files={"lacks.py": lacks})
    box.close()


def read_model(folder: Path, sandbox: Sandbox, text: str) -> ProblemRead:
    (folder / "level1").mkdir()
    (folder / "level1/1_Case.py").write_text(text)
    return read_set("kernelbench", folder, "cpu", sandbox).problems[0]


def model(constructor: str = "pass", forward: str = "pass", inputs: str = "pass") -> str:
    return MODEL.format(constructor=constructor, forward=forward, inputs=inputs)


@needs_torch
@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        (model(constructor=f"open({__file__!r})"), 8, "FileNotFoundError"),
        (model(constructor="import urllib.request; urllib.request.urlopen('http://127.0.0.1:9')"), 8, "URLError"),
        (model(forward="x = x + torch.rand(3)"), 0, "draws random numbers"),
        (model(forward="raise KeyError('nothing')"), 11, "KeyError"),
        (model(inputs="return 7"), 0, "`get_inputs` raised TypeError"),
        (model(inputs="return ['text']"), 0, "`x` is str"),
        ("class Model: pass\ndef get_inputs(:\n", 2, "SyntaxError"),
        ("import transformers\n" + model(), 1, "transformers"),
        (model().replace("return []", "return ["), 21, "SyntaxError"),
    ],
)
def test_a_model_that_cannot_be_a_problem_is_refused_in_words(
    tmp_path: Path, sandbox: Sandbox, text: str, line: int, words: str
) -> None:
    found = read_model(tmp_path, sandbox, text)
    assert (found.state, found.line, dict(found.files)) == ("refused", line, {})
    assert words in found.refused
    assert found.remedy


def podium(folder: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    return run_podium(["problems", *words], os.environ | {"NO_COLOR": "1"}, folder)


@pytest.mark.parametrize("name", BAD)
def test_a_bad_set_is_refused_in_words_and_nothing_is_written(tmp_path: Path, name: str) -> None:
    form, files, words = BAD[name]
    for path, content in files.items():
        (tmp_path / "set" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "set" / path).write_bytes(content.encode() if isinstance(content, str) else content)
    root = "set/f" if form == "flashinfer" else "set"
    targets = ("--out", "made.tar.gz", "--folders", "made", "--report", "report.json")
    done = podium(tmp_path, "import", form, root, *targets, "--sandbox", "bubblewrap")
    assert (done.returncode, "nothing was written" in done.stderr) == (2, True), done.stderr
    (row,) = json.loads((tmp_path / "report.json").read_text())
    assert words in row["refused"]
    assert row["source"] in next(iter(files))
    assert row["remedy"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["report.json", "set"]


@needs_torch
@pytest.mark.parametrize("form", ["kernelbench", "flashinfer", "sol-execbench", "leetgpu"])
def test_an_example_set_becomes_a_pack_and_a_report(tmp_path: Path, form: str) -> None:
    done = podium(
        tmp_path, "import", form, str(EXAMPLES / form), "--device", "cpu", "--out", "made.tar.gz",
        "--report", "report.json", "--references", "references.tar.gz", "--sandbox", "bubblewrap",
    )  # fmt: skip
    assert (done.returncode, "made.tar.gz: 2 of 2 problems imported." in done.stderr) == (0, True)
    rows = json.loads((tmp_path / "report.json").read_text())
    assert {row["state"] for row in rows} <= {"read", "changed"}
    assert (tmp_path / "references.tar.gz").exists()


@needs_torch
def test_solutions_of_the_other_form_pass_and_fail_as_they_must(tmp_path: Path) -> None:
    made, environment = tmp_path / "made.tar.gz", os.environ | {"NO_COLOR": "1"}
    imported = ["import", "kernelbench", str(EXAMPLES / "kernelbench"), "--device", "cpu", "--out", str(made)]
    assert podium(tmp_path, *imported, "--sandbox", "bubblewrap").returncode == 0
    verdicts = {}
    for name in ("solutions", "known-bad"):
        folder, out = tmp_path / name, tmp_path / f"{name}.tar.gz"
        folder.mkdir()
        for path in (EXAMPLES / f"kernelbench-{name}").glob("*.py"):
            (folder / path.name).write_text(f"{path.read_text()}\nassert not torch.backends.cudnn.allow_tf32\n")
        adapted = podium(tmp_path, "adapt", "kernelbench", str(folder), "--problems", str(made), "--out", str(out))
        assert adapted.returncode == 0
        graded = tmp_path / f"{name}.jsonl"
        words = ["evaluate", "--problems", str(made), "--solutions", str(out), "--out", str(graded)]
        run_podium([*words, "--sandbox", "bubblewrap"], environment, tmp_path)
        rows = [json.loads(line) for line in graded.read_text().splitlines()]
        verdicts[name] = [row["podium"]["verdict"] for row in rows]
    assert verdicts == {"solutions": ["passed"] * 2, "known-bad": ["wrong_answer"] * 2}


def test_a_file_of_a_level_is_in_the_report_wherever_it_was_cut_off(tmp_path: Path) -> None:
    (tmp_path / "level2").mkdir()
    (tmp_path / "level2/1_Whole.py").write_text(LEVEL_FILE)
    (tmp_path / "level2/2_Solution.py").write_text(LEVEL_FILE.replace("class Model(", "class ModelNew("))
    (tmp_path / "level2/helpers.py").write_text("import torch\n")
    for end in range(LEVEL_FILE.index("get_init_inputs")):
        (tmp_path / "level2/9_Cut.py").write_text(LEVEL_FILE[:end])
        whole, cut = set_files(tmp_path)
        assert (whole.source, whole.refused) == ("level2/1_Whole.py", "")
        assert cut.source == "level2/9_Cut.py"
        assert cut.refused
        assert "cut off" in cut.remedy


def test_the_settings_of_a_configuration_are_combined(tmp_path: Path) -> None:
    text = "class Model: pass\ndef get_inputs(): pass\n"
    (tmp_path / "task").mkdir()
    (tmp_path / "task/func_forward.py").write_text(text)
    (tmp_path / "task/other.py").write_text(text)
    config = {
        "multi_init_configs": [{"eps": 1}, {"eps": 2}],
        "multi_input_configs": [{"rows": 3}],
        "multi_shared_configs": [{"width": 4}, {"width": 5}],
    }
    (tmp_path / "task/config_forward.json").write_text(json.dumps(config))
    (found,) = set_files(tmp_path)
    assert [(dict(init), dict(given)) for init, given in found.settings] == [
        ({"eps": eps, "width": width}, {"rows": 3, "width": width}) for eps in (1, 2) for width in (4, 5)
    ]


def test_a_configuration_that_is_no_json_is_refused_with_its_file(tmp_path: Path) -> None:
    (tmp_path / "func_forward.py").write_text("class Model: pass\ndef get_inputs(): pass\n")
    (tmp_path / "config_forward.json").write_text("{")
    (found,) = set_files(tmp_path)
    assert "config_forward.json" in found.refused


def test_tasks_of_pmpp_are_imported_by_the_same_verb(tmp_path: Path) -> None:
    lay_out(tmp_path / "checkout", "ch02-scale")
    lay_out(tmp_path / "checkout", "ch03-bad", Makefile="NVCC = nvcc\nA := $(shell touch ran)\n")
    done = podium(tmp_path, "import", "pmpp", "checkout", "--out", "made.tar.gz", "--sandbox", "bubblewrap")
    assert done.returncode == 1
    assert "made.tar.gz: 1 of 2 problems imported." in done.stderr
    assert "is a function of make" in done.stdout
    assert len(read_problem_pack(tmp_path / "made.tar.gz").records) == 1


def test_folders_of_tensara_are_imported_by_the_same_verb(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / "set" / name).mkdir(parents=True)
        (tmp_path / "set" / name / "def.py").write_text(SOFTMAX)
    (tmp_path / "set/one/problem.md").write_text("---\nslug: one\ntitle: One\n---\n\nCompute it.\n")
    done = podium(tmp_path, "import", "tensara", "set", "--out", "made.tar.gz", "--sandbox", "bubblewrap")
    assert done.returncode == 1
    assert "problem.md is missing" in " ".join(done.stdout.split())
    assert [one.problem.task_id for one in read_problem_pack(tmp_path / "made.tar.gz").records] == ["one"]


@pytest.mark.parametrize("targets", [(), ("--out", "made.tar.gz", "--folders", "made")])
def test_a_set_whose_only_reference_fails_is_refused_with_the_cause(tmp_path: Path, targets: tuple[str, ...]) -> None:
    (tmp_path / "set/one").mkdir(parents=True)
    (tmp_path / "set/one/def.py").write_text(SOFTMAX.replace("e = np.exp(", "e = np.gone("))
    (tmp_path / "set/one/problem.md").write_text("---\nslug: one\ntitle: One\n---\n\nCompute it.\n")
    done = podium(tmp_path, "import", "tensara", "set", *targets, "--report", "report.json", "--sandbox", "bubblewrap")
    assert (done.returncode, "nothing was written" in done.stderr) == (2, True), done.stderr
    (row,) = json.loads((tmp_path / "report.json").read_text())
    assert "line 18: `reference` raised AttributeError: module 'numpy' has no attribute 'gone'" in row["refused"]
    assert row["remedy"] == "correct this line, or what it is given"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["report.json", "set"]


def test_a_folder_of_which_no_record_can_be_made_is_refused_alone(tmp_path: Path) -> None:
    for name, device in (("one", "cpu"), ("two", "quantum")):
        (tmp_path / "set" / name).mkdir(parents=True)
        (tmp_path / "set" / name / "def.py").write_text(SOFTMAX)
        head = f"---\nslug: {name}\ntitle: {name}\ndevice: {device}\n---\n\nCompute it.\n"
        (tmp_path / "set" / name / "problem.md").write_text(head)
    targets = ("--out", "made.tar.gz", "--report", "report.json", "--sandbox", "bubblewrap")
    done = podium(tmp_path, "import", "tensara", "set", *targets)
    assert done.returncode == 1, done.stderr
    good, bad = json.loads((tmp_path / "report.json").read_text())
    assert (good["state"], bad["state"]) == ("read", "refused")
    assert "quantum" in bad["refused"]
    assert "/tmp" not in bad["refused"]
    assert [one.problem.task_id for one in read_problem_pack(tmp_path / "made.tar.gz").records] == ["one"]


def test_of_two_problems_of_one_name_each_is_refused_for_its_own_cause(tmp_path: Path) -> None:
    head = "---\nslug: one\ntitle: One\n---\n\nCompute it.\n"
    for folder, definition in (("a", SOFTMAX.replace("np.exp(", "np.gone(")), ("b", SOFTMAX)):
        (tmp_path / "set" / folder).mkdir(parents=True)
        (tmp_path / "set" / folder / "def.py").write_text(definition)
        (tmp_path / "set" / folder / "problem.md").write_text(head)
    podium(tmp_path, "import", "tensara", "set", "--report", "report.json", "--sandbox", "bubblewrap")
    first, second = json.loads((tmp_path / "report.json").read_text())
    assert "has no attribute 'gone'" in first["refused"]
    assert second["refused"] == "another problem is called `one`, too"


@needs_torch
def test_an_audit_finds_the_same_operations_with_and_without_values(tmp_path: Path) -> None:
    pack = read_problem_pack(next(ROOT.glob("examples/problem-sets/board/*-problems.tar.gz")))
    problems = [one.problem for one in pack.records if isinstance(one.problem, FunctionProblem)]
    places = [one.task_id for one in problems]
    files = {f"{number}/def.py": one.definition.content for number, one in enumerate(problems)}
    box = open_sandbox("bubblewrap", tmp_path)
    calls = [SandboxedCall("idle:operations", (path, "cpu", fake)) for path in files for fake in (True, False)]
    names = [one.result for one in call_each(box, calls, warm=WARM, files=files)]
    box.close()
    assert len(names) == 16
    assert names[::2] == names[1::2]
    assert [name for one in names for name in one if not name.startswith("aten.")] == []
    assert "aten.addmm" in names[places.index("kernelbench-level1-1-normed-projection") * 2]


def test_an_audit_names_what_a_loose_check_accepts(tmp_path: Path) -> None:
    folder = tmp_path / "problems/loose"
    folder.mkdir(parents=True)
    (folder / "def.py").write_text(SOFTMAX.replace("atol=1e-6", "atol=2"))
    (folder / "problem.md").write_text("---\nslug: loose\ntitle: Loose\n---\n\nCompute it.\n")
    packing = ["functions", "pack", str(tmp_path / "problems"), "--out", "made.tar.gz", "--sandbox", "bubblewrap"]
    assert run_podium(packing, os.environ | {"NO_COLOR": "1"}, tmp_path).returncode == 0
    (tmp_path / "reasons.json").write_text('{"loose": {"zeros `y`": "a test"}}')
    done = podium(
        tmp_path, "audit", "made.tar.gz", "--out", "audit.json", "--most", "5", "--sandbox", "bubblewrap",
        "--explained", "reasons.json",
    )  # fmt: skip
    assert done.returncode == 1
    found = json.loads((tmp_path / "audit.json").read_text())
    (problem,) = found["problems"]
    outcomes = {row["kind"]: row["outcome"] for row in problem["mutants"]}
    assert (outcomes["does nothing"], outcomes["zeros"]) == ("killed", "survived")
    zeros = next(row for row in problem["mutants"] if row["kind"] == "zeros")
    assert zeros["explained"] == "a test"
    assert problem["built"] - problem["killed"] == found["built"] - found["killed"] > 0
