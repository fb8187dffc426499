"""A kernel that nobody calls; see `triton_ahead`."""

import triton
import triton.language as tl


@triton.jit  # type: ignore[untyped-decorator, unused-ignore]
def copy(source, target, size: tl.constexpr):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
    places = tl.arange(0, size)
    tl.store(target + places, tl.load(source + places))
