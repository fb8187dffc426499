"""A harness like the showcase's own: doubles arrays, three calls in all, the last of them timed."""

import os
import sys

sys.path.append(os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120 - as the showcase's
from cupy import asarray
from podium_split import Contestant, Layout, Memory, fail

COUNT, CALLS = 1000, 3
memory = Memory(1 << 20)
contestant = Contestant("cupy", "double", memory)
for i in range(CALLS):
    layout = Layout(memory)
    (x_view, x_told), (out_view, out_told) = (layout.place((COUNT,), "<f4") for _ in range(2))
    x, out = asarray(x_view), asarray(out_view)
    given = [float(os.urandom(1)[0]) for _ in range(COUNT)]
    x[:], out[:] = given, [-1.0] * COUNT
    contestant.call([x_told, out_told], 2.0, timed=i == CALLS - 1)
    if list(out) != [2.0 * value for value in given]:
        fail("wrong")
contestant.end()
