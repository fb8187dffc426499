"""Podium's own fields of a command problem, under the key `podium` of its metadata."""

from typing import Annotated, Literal, Self

from pydantic import Field, field_validator, model_validator

from problems.spec.case import DEFAULT_DTYPE, Amount, Case, Dtype, Positive
from problems.spec.command.counts import why_bad_counts
from problems.spec.podium_metadata import CheckedPath, PodiumMetadata


class CommandMetadata(PodiumMetadata):
    """Everything optional; `flops`, `bytes` and `output_bytes` are per run of the benchmark."""

    flops: Amount | None = None
    bytes: Amount | None = None
    output_bytes: Amount | None = None
    """The part of `bytes` that is written: the outputs of all timed calls."""
    flops_dtype: Dtype = DEFAULT_DTYPE
    """The fastest data type whose arithmetic the tolerances allow: its peak bounds what a time may be."""
    dtype: Dtype | None = None
    """The data type that the problem says to compute in; absent means `flops_dtype`, and fp32 where that is tf32."""
    working_set_bytes: Positive | None = None
    """Bytes that one timed iteration touches; absent means unknown."""
    l2_flushed: bool = False
    """The benchmark empties the L2 cache before each timed iteration."""
    build_only: list[CheckedPath] | None = None
    """Files withheld at run time; null means nobody has said."""
    harness: Literal["in_process", "separate"] = "in_process"
    work_checked: bool = False
    """The benchmark verifies the very work that it times."""
    counts: str | None = None
    """A line of the test's output, as `Summary: {passed} / {total} passed`. Beside exit status 0 a pass needs it, with
    equal numbers above zero."""
    source_bytes: Annotated[int, Field(gt=0)] | None = None
    """Maximum size of a solution's files together."""
    visible_tests: list[str] = Field(default_factory=list)
    """Paths of test files that a visitor may read."""
    visible_test_command: str | None = None
    """The command by which a trial tests a solution; the held-out test files are withheld from it."""

    @field_validator("counts")
    @classmethod
    def _can_be_read(cls, counts: str | None) -> str | None:
        if counts is not None and (reason := why_bad_counts(counts)):
            raise ValueError(reason)
        return counts

    @model_validator(mode="after")
    def _has_what_it_runs(self) -> Self:
        command = self.visible_test_command
        if command is None:
            return self
        if not command.strip():
            raise ValueError("`visible_test_command` must not be empty")
        if not self.visible_tests:
            raise ValueError("`visible_test_command` needs `visible_tests`: the test files that it runs")
        return self

    @model_validator(mode="after")
    def _writes_a_part_of_what_it_moves(self) -> Self:
        if self.bytes is not None and self.output_bytes is not None and self.output_bytes > self.bytes:
            raise ValueError("`output_bytes` must not exceed `bytes`, which counts inputs and outputs")
        return self

    @property
    def case(self) -> Case:
        """The benchmark's only case, with the declared work."""
        dtype = self.dtype or (DEFAULT_DTYPE if self.flops_dtype == "tf32" else self.flops_dtype)
        return Case(flops=self.flops, bytes=self.bytes, dtype=dtype, fastest_dtype=self.flops_dtype)
