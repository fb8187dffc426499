"""FlashInfer Trace and SOL-ExecBench: axes, workloads, recorded data and bounds. Nothing here runs a set's code."""

import json
import struct
from pathlib import Path
from typing import Any

import pytest

from podium.problems.readers import read_set
from problems.formats.errors import PackRefused
from problems.formats.flashinfer.axes import length_of
from problems.formats.flashinfer.naming import rule_of
from problems.formats.flashinfer.records import Dialect, FlashInferSolution, TensorSpec, unwrapped
from problems.formats.flashinfer.safetensors import read_tensor
from problems.formats.problem_sets import ProblemRead, SetRead

REFERENCE = "import torch\n\n\ndef run(x):\n    return x * 2\n"
DEFINITION: dict[str, Any] = {
    "name": "doubled",
    "op_type": "scale",
    "axes": {"rows": {"type": "var"}, "width": {"type": "const", "value": 8}},
    "inputs": {"x": {"shape": ["rows", "width"], "dtype": "float32"}},
    "outputs": {"y": {"shape": ["rows", "width"], "dtype": "float32"}},
    "reference": REFERENCE,
}
WORKLOAD: dict[str, Any] = {"uuid": "one", "axes": {"rows": 4}, "inputs": {"x": {"type": "random"}}}


def changed(data: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {**data, **fields}


def read(folder: Path, definition: Any, workloads: Any, dialect: Dialect = "flashinfer") -> ProblemRead:
    """Lay a definition out in its dialect's layout, and read it. The sandbox is not used."""
    text = definition if isinstance(definition, str) else json.dumps(definition)
    lines = workloads if isinstance(workloads, str) else "".join(json.dumps(one) + "\n" for one in workloads)
    if dialect == "flashinfer":
        (folder / "definitions/op").mkdir(parents=True)
        (folder / "workloads/op").mkdir(parents=True)
        (folder / "definitions/op/doubled.json").write_text(text)
        (folder / "workloads/op/doubled.jsonl").write_text(lines)
    else:
        (folder / "doubled").mkdir()
        (folder / "doubled/definition.json").write_text(text)
        (folder / "doubled/workload.jsonl").write_text(lines)
    found: SetRead = read_set(dialect, folder, "cpu", None)  # type: ignore[arg-type]
    assert len(found.problems) == 1
    return found.problems[0]


@pytest.mark.parametrize(
    ("expression", "length"),
    [("batch*seq", 512), ("H/3", 4), ("(H + 4) // 5", 3), ("2**5 % 7", 4), ("seq - H", 116)],
)
def test_an_axis_is_computed_from_earlier_ones(expression: str, length: int) -> None:
    assert length_of(expression, {"batch": 4, "seq": 128, "H": 12}) == length


@pytest.mark.parametrize(
    "expression",
    ["H/5", "f(x)", "later", "H - 13", "2**1000", "9**9**9", "H/0", "1.5*H", "H if H else 1", "", "(" * 150],
)
def test_an_axis_that_is_no_length_is_refused(expression: str) -> None:
    with pytest.raises(PackRefused, match="axis expression"):
        length_of(expression, {"H": 12})


def test_a_workload_stands_alone_or_within_a_trace() -> None:
    trace = {"definition": "doubled", "solution": None, "workload": WORKLOAD, "evaluation": None}
    assert unwrapped(trace) == unwrapped(WORKLOAD) == WORKLOAD


def test_a_definition_becomes_a_folder(tmp_path: Path) -> None:
    found = read(tmp_path, DEFINITION, [WORKLOAD])
    assert (found.state, found.slug) == ("read", "doubled")
    assert "output_init = 'poison'" in found.files["def.py"].replace('"', "'")
    assert 'Scalar("rows", "size_t")' in found.files["def.py"].replace("'", '"')


def test_outputs_begin_as_zeros_in_sol_execbench(tmp_path: Path) -> None:
    found = read(tmp_path, DEFINITION, [WORKLOAD], "sol-execbench")
    assert "output_init = 'zero'" in found.files["def.py"].replace('"', "'")


BAD = [
    ('{"name": "doub', [WORKLOAD], 1, "Line 1"),
    (changed(DEFINITION, inputs={"x": {"shape": ["rows"], "dtype": "float31"}}), [WORKLOAD], 0, "float31"),
    (changed(DEFINITION, inputs={"x": {"shape": ["cols"], "dtype": "float32"}}), [WORKLOAD], 0, "`cols`"),
    (changed(DEFINITION, outputs={"x": {"shape": ["rows"], "dtype": "float32"}}), [WORKLOAD], 0, "input and as output"),
    (
        changed(DEFINITION, inputs={"x": {"shape": ["rows"], "dtype": "float4_e2m1"}}),
        [WORKLOAD],
        0,
        "packs two numbers",
    ),
    (DEFINITION, '{"uuid": "one", "axes"\n', 1, "Line 1"),
    (DEFINITION, [WORKLOAD, changed(WORKLOAD, axes={"rows": 4, "width": 9})], 2, "const 8"),
    (DEFINITION, [changed(WORKLOAD, axes={})], 1, "no length for the variable axis `rows`"),
    (DEFINITION, [changed(WORKLOAD, axes={"rows": 4, "depth": 1})], 1, "`depth`"),
    (DEFINITION, [changed(WORKLOAD, axes={"rows": -1})], 1, "rows"),
    (DEFINITION, [changed(WORKLOAD, inputs={"z": {"type": "random"}})], 1, "`z`"),
    (DEFINITION, [changed(WORKLOAD, inputs={"x": {"type": "custom"}})], 1, "custom"),
    (DEFINITION, "", 0, "no workload"),
    (changed(DEFINITION, reference="def run(x):\n    return (x\n"), [WORKLOAD], 0, "`reference`, line 2, is not valid"),
    (changed(DEFINITION, reference="def answer(x):\n    return x\n"), [WORKLOAD], 0, "no function `run`"),
]


@pytest.mark.parametrize(("definition", "workloads", "line", "words"), BAD)
def test_what_cannot_be_read_is_refused_in_words(
    tmp_path: Path, definition: Any, workloads: Any, line: int, words: str
) -> None:
    found = read(tmp_path, definition, workloads)
    assert found.state == "refused"
    assert not found.files
    assert words in found.refused
    assert found.line == line


def test_a_definition_without_workloads_is_refused_with_the_place_of_its_file(tmp_path: Path) -> None:
    (tmp_path / "definitions/op").mkdir(parents=True)
    (tmp_path / "definitions/op/doubled.json").write_text(json.dumps(DEFINITION))
    (found,) = read_set("flashinfer", tmp_path, "cpu", None).problems  # type: ignore[arg-type]
    assert "no workloads" in found.refused
    assert found.remedy == "add workloads/op/doubled.jsonl"


def test_sol_execbench_refuses_custom_inputs_beside_others(tmp_path: Path) -> None:
    inputs = {name: {"shape": ["rows"], "dtype": "float32"} for name in ("a", "b")}
    reference = "def run(a, b):\n    return a * b\n"
    mixed = changed(DEFINITION, inputs=inputs, custom_inputs_entrypoint="make", reference=reference)
    kinds = {"a": {"type": "custom"}, "b": {"type": "random"}}
    assert "mixes" in read(tmp_path, mixed, [changed(WORKLOAD, inputs=kinds)], "sol-execbench").refused


@pytest.mark.parametrize(("named", "words"), [("x, w", ""), ("w, x", "`run` takes (w, x)"), ("x", "`run` takes (x)")])
def test_sol_execbenchs_run_names_the_inputs_in_their_order(tmp_path: Path, named: str, words: str) -> None:
    inputs = {name: {"shape": ["rows"], "dtype": "float32"} for name in ("x", "w")}
    made = changed(DEFINITION, inputs=inputs, reference=f"def run({named}):\n    return x\n")
    found = read(tmp_path, made, [changed(WORKLOAD, inputs={})], "sol-execbench")
    assert (found.state == "refused") == bool(words)
    assert words in found.refused
    assert read(tmp_path, made, [changed(WORKLOAD, inputs={})]).state == "read"


def test_an_input_named_as_an_axis_is_flashinfers_alone(tmp_path: Path) -> None:
    made = changed(
        DEFINITION,
        inputs={"rows": {"shape": ["width"], "dtype": "float32"}},
        reference="def run(rows):\n    return rows\n",
    )
    case = changed(WORKLOAD, inputs={})
    assert (
        read(tmp_path, made, [case], "sol-execbench").refused == "has an input and an axis `rows`; rename one of them"
    )
    assert read(tmp_path, made, [case]).state == "read"


def test_a_number_as_an_axis_is_sol_execbenchs_alone(tmp_path: Path) -> None:
    literal = changed(DEFINITION, outputs={"y": {"shape": ["rows", "3"], "dtype": "float32"}})
    (tmp_path / "f").mkdir()
    (tmp_path / "s").mkdir()
    assert "sol-execbench" in read(tmp_path / "f", literal, [WORKLOAD]).refused
    assert read(tmp_path / "s", literal, [WORKLOAD], "sol-execbench").state == "read"


def safetensors(path: Path, entry: Any, content: bytes = b"", length: int | None = None) -> Path:
    head = json.dumps({"indptr": entry}).encode()
    path.write_bytes(struct.pack("<Q", len(head) if length is None else length) + head + content)
    return path


def test_recorded_data_are_read(tmp_path: Path) -> None:
    entry = {"dtype": "I32", "shape": [3], "data_offsets": [0, 12]}
    found = read_tensor(safetensors(tmp_path / "a", entry, struct.pack("<3i", 0, 5, 9)), "indptr")
    assert (found.dtype, found.shape, struct.unpack("<3i", found.content)) == ("int32", (3,), (0, 5, 9))


@pytest.mark.parametrize(
    ("entry", "length", "words"),
    [
        ({"dtype": "I32", "shape": [2_500_000_000], "data_offsets": [0, 10_000_000_000]}, None, "10000000000 bytes"),
        ({"dtype": "I32", "shape": [3], "data_offsets": [0, 8]}, None, "needs 12"),
        ({"dtype": "I32", "shape": [-3], "data_offsets": [0, -12]}, None, "shape"),
        ({"dtype": "I33", "shape": [0], "data_offsets": [0, 0]}, None, "I33"),
        ({"dtype": "I32", "shape": [0], "data_offsets": [0, 0]}, 10_000_000_000, "header of 10000000000 bytes"),
        ({"dtype": "I32", "shape": "many", "data_offsets": [0, 0]}, None, "shape"),
        (7, None, "header"),
    ],
)
def test_recorded_data_that_are_not_what_they_declare_are_refused(
    tmp_path: Path, entry: Any, length: int | None, words: str
) -> None:
    with pytest.raises(PackRefused, match=words):
        read_tensor(safetensors(tmp_path / "a", entry, b"", length), "indptr")


def test_recorded_data_outside_of_the_set_are_refused(tmp_path: Path) -> None:
    kinds = {"x": {"type": "safetensors", "path": "../secret.safetensors", "tensor_key": "x"}}
    assert "outside of the set" in read(tmp_path, DEFINITION, [changed(WORKLOAD, inputs=kinds)]).refused


@pytest.mark.parametrize(
    ("name", "shape", "rule"),
    [
        ("norm_weight", ["w"], "ones"), ("post_layernorm_bias", ["w"], "zeros"), ("causal_mask", ["s", "s"], "causal"),
        ("cos", ["s"], "cos"), ("rstd", ["s"], "positive"), ("A_log", ["s"], "decay_log"),
        ("q_proj", ["s", "w"], "weight"), ("x", ["s"], ""),
    ],
)  # fmt: skip
def test_sol_execbench_takes_the_data_from_the_name(name: str, shape: list[str], rule: str) -> None:
    spec = TensorSpec(shape=shape, dtype="float32")
    assert rule_of(name, spec, "", "sol-execbench") == rule
    assert rule_of(name, spec, "", "flashinfer") == ""


@pytest.mark.parametrize(
    ("entry", "paths"),
    [("k.py", ["k.py"]), ("k.py::run", ["../k.py"]), ("k.py::run", ["/k.py"]), ("k.py::run", ["k.py", "k.py"]),
     ("other.py::run", ["k.py"])],
)  # fmt: skip
def test_a_solution_whose_files_do_not_agree_is_refused(entry: str, paths: list[str]) -> None:
    sources = [{"path": path, "content": ""} for path in paths]
    with pytest.raises(ValueError):
        FlashInferSolution.model_validate(
            {"name": "a", "definition": "doubled", "spec": {"entry_point": entry}, "sources": sources}
        )
