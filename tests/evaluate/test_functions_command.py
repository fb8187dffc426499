"""`podium functions` makes, checks and packs problems, and runs their definitions in a sandbox only."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from podium.functions.manifests import LIMITS, ManifestMaker
from problems.formats.compute_eval.packs import read_problem_pack
from problems.formats.errors import PackRefused
from problems.spec.function.problem import FunctionProblem
from runners.agent.ground.native import default_cache_directory
from runners.agent.sandbox import Limits
from tests.evaluate.packs_on_disk import podium
from tests.formats.functions.definitions import SOFTMAX, softmax_with
from tests.sandbox.boxes import CONFINING, open_sandbox

pytestmark = pytest.mark.rest

BOX = "bubblewrap"


@pytest.fixture
def axpy(folder: Path) -> Path:
    assert podium(folder, "functions", "new", folder / "axpy").status == 0
    return folder / "axpy"


def test_a_new_problem_passes_its_check(folder: Path, axpy: Path) -> None:
    ran = podium(folder, "functions", "check", axpy, "--sandbox", BOX)
    assert ran.status == 0, ran.stderr
    assert 'cpp:    extern "C" void solution(const float* x, float* y, float a, size_t n)' in ran.stdout
    assert "1,000: x 1000, y 1000, 2000 flops, 1.2e+04 bytes; ranks" in ran.stdout
    assert "baseline: solution.py" in ran.stdout


def test_a_new_problem_is_not_made_over_another(folder: Path, axpy: Path) -> None:
    ran = podium(folder, "functions", "new", axpy)
    assert ran.status == 2
    assert "is not empty" in ran.stderr


def test_a_new_problem_for_torch_is_read_where_torch_is_missing(folder: Path) -> None:
    pytest.importorskip("numpy")
    podium(folder, "functions", "new", folder / "t", "--arrays", "torch")
    ran = podium(folder, "functions", "check", folder / "t", "--sandbox", BOX)
    assert ran.status == 0, ran.stderr
    assert 'cuda:   extern "C" void solution(const float* x, float* y, float a, size_t n)' in ran.stdout
    assert "read, not run" in ran.stdout or "not known whether it ranks" in ran.stdout


def test_a_pack_without_a_folder_to_lie_in_is_refused_before_anything_runs(folder: Path, axpy: Path) -> None:
    (axpy / "def.py").write_text("raise RuntimeError('it was run')\n")
    ran = podium(folder, "functions", "pack", axpy, "--out", folder / "gone" / "a-problems.tar.gz", "--sandbox", BOX)
    assert ran.status == 2
    assert f"there is no folder {folder / 'gone'}" in ran.stderr.replace("\n", " ")
    assert "it was run" not in ran.stderr


@pytest.mark.rest
def test_a_pack_is_written_and_checked_against_its_folder(folder: Path, axpy: Path) -> None:
    out = folder / "spring-problems.tar.gz"
    packed = podium(folder, "functions", "pack", axpy, "--out", out, "--release", "spring", "--sandbox", BOX)
    assert packed.status == 0, packed.stderr
    assert "1 problems, 1 of them functions." in packed.stderr
    pack = read_problem_pack(out)
    (record,) = pack.records
    assert (pack.metadata.release, pack.metadata.profile.value) == ("spring", "podium/1")
    assert isinstance(record.problem, FunctionProblem)
    assert record.problem.manifest.cases[2].elements("y") == 1_000_000
    assert podium(folder, "functions", "check", axpy, "--sandbox", BOX, "--against", out).status == 0
    definition = axpy / "def.py"
    definition.write_text(definition.read_text().replace("return 2 * case.n", "return 3 * case.n"))
    changed = podium(folder, "functions", "check", axpy, "--sandbox", BOX, "--against", out)
    assert changed.status == 1
    assert "changed: case `1,000`: `flops` was 2000.0 and is 3000.0" in changed.stdout


def test_a_case_that_cannot_rank_is_told(folder: Path, axpy: Path) -> None:
    definition = axpy / "def.py"
    drawn, fixed = "rng.standard_normal(case.n, dtype=np.float32)", "np.ones(case.n, np.float32)"
    definition.write_text(definition.read_text().replace(drawn, fixed, 1))
    ran = podium(folder, "functions", "check", axpy, "--sandbox", BOX)
    assert ran.status == 1
    assert "does not rank (every call has the same `x`; draw it anew" in ran.stdout


def test_a_check_that_accepts_a_wrong_answer_is_told_with_the_remedy(folder: Path, axpy: Path) -> None:
    definition = axpy / "def.py"
    definition.write_text(re.sub(r"atol=[^,]+,", "atol=100,", definition.read_text()))
    ran = podium(folder, "functions", "check", axpy, "--sandbox", BOX)
    assert ran.status == 1
    assert "does not rank (the check accepts wrong answers: `y` filled with 0; " in ran.stdout
    assert "Tighten `accuracy`, or draw inputs whose answers differ more)" in ran.stdout
    assert "accepts results in fp8, which is less than `fastest_dtype` says" in ran.stdout


def test_a_faulty_definition_is_refused_with_file_line_and_remedy(folder: Path, axpy: Path) -> None:
    (axpy / "def.py").write_text(softmax_with(cases="()"))
    ran = podium(folder, "functions", "check", axpy, "--sandbox", BOX)
    assert ran.status == 2
    assert f"{axpy / 'def.py'} line 24: `cases` must hold at least one Case; write cases = " in ran.stderr


PROBING = """\
import os, socket
assert not os.path.exists({secret!r})
try:
    socket.create_connection(("127.0.0.1", 22), 1)
    raise SystemExit
except OSError:
    pass
"""
Maker = Callable[[str, Limits], ManifestMaker]


@pytest.fixture(params=CONFINING)
def maker(request: pytest.FixtureRequest) -> Maker:
    box = open_sandbox(request.param, default_cache_directory())
    return lambda _, limits: ManifestMaker(box, limits=limits)


def manifest(maker: Maker, folder: Path, text: str, limits: Limits = LIMITS) -> object:
    (folder / "def.py").write_text(text)
    return maker("", limits)(folder)


def test_a_definition_sees_neither_the_machine_nor_the_network(tmp_path: Path, maker: Maker) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret")
    text = PROBING.format(secret=str(secret))
    assert getattr(manifest(maker, tmp_path, text + SOFTMAX), "class_name") == "RowSoftmax"  # noqa: B009


def test_what_a_definition_prints_is_no_manifest(tmp_path: Path, maker: Maker) -> None:
    forged = json.dumps({"form": "podium"})
    text = f"import os\nprint({forged!r})\nos.write(1, b'x')\n{SOFTMAX}"
    assert getattr(manifest(maker, tmp_path, text), "class_name") == "RowSoftmax"  # noqa: B009


def test_a_definition_that_ends_or_never_ends_is_refused(tmp_path: Path, maker: Maker) -> None:
    with pytest.raises(PackRefused, match="ended without a manifest"):
        manifest(maker, tmp_path, "import os\nos._exit(0)\n")
    short = Limits(**{**LIMITS.__dict__, "wall_seconds": 2})
    with pytest.raises(PackRefused, match="took longer than 2 s; use smaller cases"):
        manifest(maker, tmp_path, "while True: pass\n", short)


def test_a_solution_of_another_signature_is_invalid_before_anything_runs(folder: Path, axpy: Path) -> None:
    solution = folder / "mine.py"
    solution.write_text("def solution(x): pass\n")
    ran = podium(folder, "functions", "run", axpy, solution, "--sandbox", BOX)
    assert (ran.status, "takes 1 parameter; this problem's takes 4: x, y, a, n" in ran.stdout + ran.stderr) in (
        (1, True), (2, False)  # the second where this version has no judge of functions
    )  # fmt: skip
