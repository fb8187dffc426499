"""Reads a checkout of challenges, and writes a function problem's folder for one."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, FiniteFloat

from problems.formats.errors import PackRefused
from problems.formats.leetgpu import inside
from problems.formats.set_descriptions import DescribedRefusal, Length, Name, StrictDescription
from problems.formats.set_files import slug_of
from problems.formats.set_folders import Dims, dims_over, embedded, front_matter
from problems.spec.function.dtypes import ParameterDtype

CHALLENGE = "challenge.py"
TERMS = (
    "LeetGPU's challenges are under CC BY-NC-ND: a converted copy may not be passed on. Keep this pack to yourself, and"
    " publish no release of it."
)
MODULE = Path(inside.__file__).parent / "challenge.py"


class ChallengeValue(StrictDescription):
    """A parameter in one test."""

    kind: Literal["array", "scalar"]
    dtype: ParameterDtype
    shape: Annotated[list[Length], Field(max_length=8)] = Field(default_factory=list)
    value: bool | int | float | None = None


class DescribedChallenge(StrictDescription):
    """A challenge as the sandbox describes it, or a refusal."""

    title: str = ""
    rtol: Annotated[FiniteFloat, Field(ge=0)] = 0.0
    atol: Annotated[FiniteFloat, Field(ge=0)] = 0.0
    directions: dict[Name, Literal["in", "out", "inout"]] = Field(default_factory=dict)
    cases: list[dict[Name, ChallengeValue]] = Field(default_factory=list, max_length=256)
    refused: DescribedRefusal | None = None


def challenge_files(root: Path) -> list[Path]:
    """The challenges below a folder, in the order of their paths. Raises PackRefused if there is none."""
    paths = sorted(path for path in root.rglob(CHALLENGE) if not path.is_symlink())
    if not paths:
        raise PackRefused("no_problems", f"{root} holds no {CHALLENGE}; give the checkout's folder")
    return paths


def folder_of(path: Path, text: str, found: DescribedChallenge, device: str) -> tuple[dict[str, str], list[str]]:
    """The files of the problem's folder by path, and the notes on its use. Raises PackRefused if it has no tests.

    Tests whose arrays have another data type or number of axes than those of the last one are left out.
    """
    if not found.cases:
        raise PackRefused("no_tests", "it has no tests")
    kept = [number for number, case in enumerate(found.cases) if _is_like(case, found.cases[-1])]
    left_out = [str(number + 1) for number in range(len(found.cases)) if number not in kept]
    words = "left out, because their arrays have another data type or number of axes than the test for time"
    notes = [f"tests {', '.join(left_out)} are {words}"] if left_out else []
    arrays = [name for name, one in found.cases[-1].items() if one.kind == "array"]
    dims, axes = dims_over([{name: found.cases[number][name].shape for name in arrays} for number in kept])
    cases = list(zip(kept, axes, strict=True))
    head = {
        "slug": slug_of(path.parent.name), "title": found.title or path.parent.name,
        "group": path.parent.parent.name[:100] or "challenges", "device": device, "tags": ["leetgpu-form"],
        "time_limit_seconds": 600,
    }  # fmt: skip
    told = "Compute what the challenge asks for; its own page states it. The tests are cases; the last is for time.\n"
    return {"def.py": _definition(path, text, found, dims, cases), "problem.md": front_matter(head) + told}, notes


def _is_like(case: Mapping[str, ChallengeValue], last: Mapping[str, ChallengeValue]) -> bool:
    def kind(one: ChallengeValue) -> tuple[str, str, int]:
        return one.kind, one.dtype, len(one.shape)

    return all(kind(one) == kind(last[name]) for name, one in case.items())


def _definition(
    path: Path,
    text: str,
    found: DescribedChallenge,
    dims: Mapping[str, Dims],
    cases: Sequence[tuple[int, Mapping[str, int]]],
) -> str:
    outputs = tuple(
        {name: (tuple(one.shape), one.dtype) for name, one in case.items() if found.directions[name] != "in"}
        for case in found.cases
    )
    exact = not any(one.dtype.startswith(("float", "bfloat")) for name, one in found.cases[-1].items()
                    if found.directions[name] != "in")  # fmt: skip
    tolerance = f"Tolerance(rtol={found.rtol!r}, atol={found.atol!r}, reason='the challenge names these')"
    lines = [
        embedded(f"Made from the challenge {path.parent.name}.", MODULE),
        "from podium_functions import Array, Case, Exact, FunctionProblem, Scalar, Tolerance",
        "",
        f"SOURCE = {text!r}",
        f"DIRECTIONS = {found.directions!r}",
        f"OUTPUTS = {outputs!r}",
        "SET = SetChallenge(SOURCE, DIRECTIONS, OUTPUTS)",
        "",
        "",
        "class Imported(FunctionProblem):",
        '    arrays = "torch"',
        '    output_init = "zero"',
        "    parameters = (",
        *(f"        {_parameter(name, found, dims)}," for name in found.directions),
        "    )",
        f"    accuracy = {'Exact()' if exact else tolerance}",
        "    cases = (",
        *(f"        {_case(number, len(outputs), own)}," for number, own in cases),
        "    )",
        "",
        "    def inputs(self, case, rng):",
        "        return SET.inputs(case, self.device)",
        "",
        "    def reference(self, case, **given):",
        "        return SET.answer(case, self.device, given)",
    ]
    return "\n".join(lines) + "\n"


def _parameter(name: str, found: DescribedChallenge, dims: Mapping[str, Dims]) -> str:
    one = found.cases[-1][name]
    if one.kind == "scalar":
        return f"Scalar({name!r}, {one.dtype!r})"
    return f"Array({name!r}, {one.dtype!r}, {found.directions[name]!r}, {dims[name]!r})"


def _case(number: int, count: int, axes: Mapping[str, int]) -> str:
    name = "performance" if number == count - 1 else f"functional {number + 1}"
    return f"Case({name!r}, test={number}" + "".join(f", {axis}={length}" for axis, length in axes.items()) + ")"
