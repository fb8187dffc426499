"""A sparse matrix in compressed rows times a dense vector, in double precision; row lengths differ widely."""

import numpy as np
from podium_functions import Array, Case, FunctionProblem, Scalar, Tolerance


class SparseRows(FunctionProblem):
    parameters = (
        Array("row_starts", "int64", "in", ("edges",), role="structure"),
        Array("columns", "int32", "in", ("entries",), role="structure"),
        Array("values", "float64", "in", ("entries",)),
        Array("x", "float64", "in", ("cols",)),
        Array("y", "float64", "out", ("rows",)),
        Scalar("rows", "size_t"),
        Scalar("cols", "size_t"),
        Scalar("entries", "size_t"),
    )
    accuracy = Tolerance(
        rtol=1e-12,
        atol=2e-10,
        reason=(
            "A row of k products of magnitude at most 16 (both factors are at most 4) summed in any order is within "
            "16 k * (k + 1) * 1.1e-16, under 1.9e-10 for k = 320; the longest rows drawn have about 160."
        ),
    )
    computes_in = "fp64"
    fastest_dtype = "fp64"
    cases = (
        Case("1 x 5, 3 entries", rows=1, cols=5, edges=2, entries=3),
        Case("7 x 11, 20 entries", rows=7, cols=11, edges=8, entries=20),
        Case("499 x 503, 4001 entries", rows=499, cols=503, edges=500, entries=4001),
        Case("16384 x 16384, 262144 entries", rows=16_384, cols=16_384, edges=16_385, entries=262_144),
        Case("40009 x 65536, 600011 entries", rows=40_009, cols=65_536, edges=40_010, entries=600_011),
    )

    def inputs(self, case, rng):
        cuts = np.sort(rng.integers(0, case.entries + 1, case.rows - 1))  # equal cuts are empty rows
        row_starts = np.concatenate([[0], cuts, [case.entries]]).astype(np.int64)
        columns = rng.integers(0, case.cols, case.entries, dtype=np.int32)
        return {
            "row_starts": row_starts,
            "columns": columns,
            "values": rng.uniform(-4, 4, case.entries),
            "x": rng.uniform(-4, 4, case.cols),
        }

    def reference(self, case, row_starts, columns, values, x):
        row_of_entry = np.repeat(np.arange(case.rows), np.diff(row_starts))
        return np.bincount(row_of_entry, weights=values * x[columns], minlength=case.rows)

    def flops(self, case):
        return 2 * case.entries
