"""The arrays of one case: the memory that both sides share, and the checker's copies of the answers."""

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from . import messages
from .clock import Region
from .messages import Argument, AsFirst, Scalar


class Buffers:
    """The shared memory of one set of arguments, its arrays in call order, and the checker's copies of the answers.

    The arrays named in `of_first` are those of the case's first set.
    """

    def __init__(
        self, memory: Any, arrays: Any, parameters: Sequence[Any], drawn: Any, of_first: Collection[str] = ()
    ) -> None:
        self._arrays = arrays
        self._parameters = parameters
        expected = iter(drawn.expected if drawn else ())
        self.shared: list[Any | None] = []
        self.copies: list[Any] = []
        self.values: list[Argument] = []
        for parameter, given in zip(parameters, drawn.arguments if drawn else (), strict=False):
            if parameter.kind == "scalar" or parameter.name in of_first:
                self.shared.append(None)
                is_first = parameter.name not in of_first
                self.values.append(Scalar(messages.scalar_data(parameter.dtype, given)) if is_first else AsFirst())
                continue
            example = next(expected) if parameter.direction != "in" else given
            one = memory.array(arrays.size(example), parameter.direction != "in")
            self.shared.append(one)
            self.values.append(one.described(parameter.dtype, arrays.shape(example)))
            if parameter.direction != "in":
                self.copies.append(arrays.empty_like(example))

    @property
    def files(self) -> list[int]:
        return [one.file for one in self.shared if one is not None]

    def regions(self, drawn: Any, go: int) -> tuple[list[Region], list[Any]]:
        """The arrays as the clock takes them in this go, and the contents that must live until the call has ended."""
        found: list[Region] = []
        kept: list[Any] = []
        copies = iter(self.copies)
        for parameter, shared, given in zip(
            self._parameters, self.shared, drawn.arguments if drawn else (), strict=False
        ):
            if shared is None:
                continue
            content = None if parameter.direction == "out" else self._arrays.contiguous(given)
            copy = None if parameter.direction == "in" else next(copies)
            kept.append(content)
            found.append(
                Region(
                    shared=shared.address,
                    content=None if content is None else self._arrays.address(content),
                    copy=None if copy is None else self._arrays.address(copy),
                    size=shared.size,
                    go=go,
                )
            )
        return found, kept

    def write(self, memory: Any, names: Iterable[str], drawn: Any) -> None:
        """Write these arrays of a draw, so that the contestant may read them before its first call."""
        chosen = frozenset(names)
        for parameter, shared, given in zip(self._parameters, self.shared, drawn.arguments, strict=True):
            if shared is not None and parameter.name in chosen:
                memory.write(shared, self._arrays.address(self._arrays.contiguous(given)))

    def trespass(self, memory: Any, regions: Sequence[Region]) -> str:
        """The input or guard area that the solution wrote to, in words; empty if it wrote to its outputs only."""
        if name := self.overrun():
            return f"wrote outside of `{name}`"
        name = self.changed_input(memory, regions)
        return f"changed its input `{name}`" if name else ""

    def changed_input(self, memory: Any, regions: Sequence[Region]) -> str:
        """Name of an input that no longer holds what it was given; empty if all do."""
        arrays = [(p, s) for p, s in zip(self._parameters, self.shared, strict=False) if s is not None]
        for (parameter, shared), region in zip(arrays, regions, strict=False):
            if parameter.direction == "in" and memory.is_changed(shared, region.content):
                return str(parameter.name)
        return ""

    def overrun(self) -> str:
        """Name of an array outside of whose bounds something was written; empty if there is none."""
        for parameter, shared in zip(self._parameters, self.shared, strict=False):
            if shared is not None and shared.is_overrun():
                return str(parameter.name)
        return ""

    def close(self) -> None:
        for one in self.shared:
            if one is not None:
                one.close()
