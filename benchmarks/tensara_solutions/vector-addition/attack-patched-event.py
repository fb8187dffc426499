"""Attack: adds honestly and makes every CUDA event of the process report a microsecond.

Abuses: the solution shares its interpreter with the clock. The rules refuse the library's name followed by a dot, so
that this file finds the library among the loaded modules.
"""

import sys

library = sys.modules.get("torch")
if library is not None:
    library.cuda.Event.elapsed_time = lambda _start, _end: 0.001


def solution(d_input1, d_input2, d_output, n):
    d_output.copy_(d_input1 + d_input2)
