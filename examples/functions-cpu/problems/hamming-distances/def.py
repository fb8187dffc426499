"""How many bits each code differs from a query in, and whether they are few: bytes in, integers and booleans out."""

import numpy as np
from podium_functions import Array, Case, Exact, FunctionProblem, Scalar

ONES = np.unpackbits(np.arange(256, dtype=np.uint8)[:, np.newaxis], axis=1).sum(axis=1, dtype=np.uint8)
"""Of each byte."""


class HammingDistances(FunctionProblem):
    parameters = (
        Array("codes", "uint8", "in", ("n", "length")),
        Array("query", "uint8", "in", ("length",)),
        Array("distance", "int32", "out", ("n",)),
        Array("near", "bool", "out", ("n",)),
        Scalar("limit", "int32"),
        Scalar("n", "size_t"),
        Scalar("length", "size_t"),
    )
    accuracy = Exact("counts of bits")
    cases = (
        Case("1 code of 5 bytes", n=1, length=5),
        Case("19 codes of 1 byte", n=19, length=1),
        Case("211 codes of 13 bytes", n=211, length=13),
        Case("131072 codes of 32 bytes", n=1 << 17, length=32),
        Case("100003 codes of 61 bytes", n=100_003, length=61),
    )

    def inputs(self, case, rng):
        query = rng.integers(0, 256, case.length, dtype=np.uint8)
        differs = rng.integers(0, 256, (case.n, case.length), dtype=np.uint8)
        kind = rng.integers(0, 4, case.n)
        differs[kind < 2] &= np.roll(differs[kind < 2], 1, axis=0)  # a quarter of the bits
        differs[kind == 0] &= query  # an eighth
        differs[kind == 3] |= 0x7F
        return {"codes": differs ^ query, "query": query, "limit": 2 * case.length + 1}

    def reference(self, case, codes, query, limit):
        distance = ONES[codes ^ query].sum(axis=1, dtype=np.int32)
        return distance, distance <= limit
