"""Definition, Workload and Solution of FlashInfer Trace, with SOL-ExecBench's additions."""

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, model_validator

Dialect = Literal["flashinfer", "sol-execbench"]
Name = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,99}$")]
Length = Annotated[int, Field(ge=0, le=2**48)]
DtypeName = Literal[
    "float64", "float32", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2", "float4_e2m1", "float4_e2m1fn_x2",
    "int64", "int32", "int16", "int8", "bool",
]  # fmt: skip
PACKED = frozenset({"float4_e2m1", "float4_e2m1fn_x2"})
ENTRY = r"^[^:]{1,300}::[A-Za-z_][A-Za-z0-9_]{0,99}$"


class _Record(BaseModel):
    """Fields beyond these change nothing here."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class ConstAxis(_Record):
    """An axis of one length."""

    type: Literal["const"]
    value: Length


class VarAxis(_Record):
    """An axis whose length each workload gives."""

    type: Literal["var"]


class ExprAxis(_Record):
    """An axis computed from others; SOL-ExecBench alone has it."""

    type: Literal["expr"]
    expression: Annotated[str, Field(max_length=200)]


Axis = Annotated[ConstAxis | VarAxis | ExprAxis, Field(discriminator="type")]


class TensorSpec(_Record):
    """A tensor, or a Python number if `shape` is null."""

    shape: Annotated[list[Annotated[str, Field(max_length=100)]], Field(max_length=8)] | None
    dtype: DtypeName
    description: str | None = None


class FlashInferDefinition(_Record):
    """One problem: axes, inputs, outputs and the reference's source."""

    name: Annotated[str, Field(min_length=1, max_length=200)]
    op_type: str = ""
    axes: dict[Name, Axis]
    inputs: Annotated[dict[Name, TensorSpec], Field(max_length=64)]
    outputs: Annotated[dict[Name, TensorSpec], Field(min_length=1, max_length=64)]
    reference: Annotated[str, Field(min_length=1)]
    custom_inputs_entrypoint: Name | None = None
    description: str | None = None
    tags: list[str] = Field(default_factory=list)
    constraints: list[str] = Field(default_factory=list)

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        both = sorted(self.inputs.keys() & self.outputs.keys())
        if both:
            raise ValueError(f"names `{both[0]}` as input and as output")
        for name, spec in (*self.inputs.items(), *self.outputs.items()):
            unknown = [dim for dim in spec.shape or [] if dim not in self.axes and not dim.isdigit()]
            if unknown:
                raise ValueError(f"gives `{name}` the axis `{unknown[0]}`, which is not declared")
        scalar = next((name for name, spec in self.outputs.items() if spec.shape is None), None)
        if scalar is not None:
            raise ValueError(f"has the output `{scalar}` without a shape; use a tensor with the shape []")
        return self


class RandomInput(_Record):
    """Drawn anew for each call."""

    type: Literal["random"]


class ScalarInput(_Record):
    """One number."""

    type: Literal["scalar"]
    value: bool | int | FiniteFloat


class SafetensorsInput(_Record):
    """Recorded data in a file beside the set."""

    type: Literal["safetensors"]
    path: Annotated[str, Field(min_length=1, max_length=500)]
    tensor_key: Annotated[str, Field(min_length=1, max_length=500)]


class CustomInput(_Record):
    """Made by the definition's `custom_inputs_entrypoint`; SOL-ExecBench alone has it."""

    type: Literal["custom"]


InputSpec = Annotated[RandomInput | ScalarInput | SafetensorsInput | CustomInput, Field(discriminator="type")]


class Tolerances(_Record):
    """SOL-ExecBench's bounds of one workload."""

    max_atol: Annotated[FiniteFloat, Field(ge=0)] = 1e-2
    max_rtol: Annotated[FiniteFloat, Field(ge=0)] = 1e-2
    required_matched_ratio: Annotated[FiniteFloat, Field(ge=0, le=1)] = 0.99
    max_error_cap: Annotated[FiniteFloat, Field(ge=0)] | None = None
    allow_negative_inf: bool = False


class Workload(_Record):
    """One case: lengths of the variable axes, and the kind of each input."""

    uuid: Annotated[str, Field(min_length=1, max_length=200)]
    axes: dict[Name, Length]
    inputs: dict[Name, InputSpec] = Field(default_factory=dict)
    tolerance: Tolerances = Tolerances()


class SourceText(_Record):
    """One file of a solution."""

    path: Annotated[str, Field(min_length=1, max_length=300)]
    content: str

    @model_validator(mode="after")
    def _stays_inside(self) -> Self:
        if self.path.startswith("/") or "\\" in self.path or ".." in self.path.split("/"):
            raise ValueError(f"has the path {self.path!r}, which leaves the solution's folder")
        return self


class CompileOptions(_Record):
    """Flags for a solution in C++ or CUDA; SOL-ExecBench alone has them."""

    cflags: list[str] = Field(default_factory=list)
    cuda_cflags: list[str] = Field(default_factory=lambda: ["-O3", "--use_fast_math"])
    ld_flags: list[str] = Field(default_factory=lambda: ["-lcuda"])


class SolutionSpec(_Record):
    """How a solution is built and called."""

    entry_point: Annotated[str, Field(pattern=ENTRY)]
    language: str | None = None
    languages: list[str] = Field(default_factory=list)
    destination_passing_style: bool = True
    binding: str | None = None
    dependencies: list[str] = Field(default_factory=list)
    target_hardware: list[str] = Field(default_factory=list)
    compile_options: CompileOptions | None = None


class FlashInferSolution(_Record):
    """A solution to one definition."""

    name: Annotated[str, Field(min_length=1, max_length=200)]
    definition: Annotated[str, Field(min_length=1, max_length=200)]
    author: str = ""
    spec: SolutionSpec
    sources: Annotated[list[SourceText], Field(min_length=1, max_length=256)]

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        paths = [one.path for one in self.sources]
        twice = next((path for path in paths if paths.count(path) > 1), None)
        if twice is not None:
            raise ValueError(f"has two sources with the path {twice!r}")
        if self.entry_path not in paths:
            raise ValueError(f"has no source {self.entry_path!r}, which its entry point names")
        return self

    @property
    def entry_path(self) -> str:
        return self.spec.entry_point.partition("::")[0]

    @property
    def entry_function(self) -> str:
        return self.spec.entry_point.partition("::")[2]


def unwrapped(data: Any) -> Any:
    """A workload's own object: lines of FlashInfer Trace hold it within a trace without solution and evaluation."""
    if isinstance(data, dict) and isinstance(data.get("workload"), dict):
        return data["workload"]
    return data
