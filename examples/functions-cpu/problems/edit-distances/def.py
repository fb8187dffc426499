"""The least number of insertions, deletions and replacements between two words, for many pairs of words."""

import numpy as np
from podium_functions import Array, Case, Exact, FunctionProblem, Scalar


class EditDistances(FunctionProblem):
    parameters = (
        Array("left", "uint8", "in", ("pairs", "most")),
        Array("right", "uint8", "in", ("pairs", "most")),
        Array("left_lengths", "int32", "in", ("pairs",)),
        Array("right_lengths", "int32", "in", ("pairs",)),
        Array("distances", "int32", "out", ("pairs",)),
        Scalar("pairs", "size_t"),
        Scalar("most", "size_t"),
    )
    accuracy = Exact("counts")
    cases = (
        Case("2 pairs of at most 5", pairs=2, most=5),
        Case("19 pairs of at most 7", pairs=19, most=7),
        Case("67 pairs of at most 23", pairs=67, most=23),
        Case("512 pairs of at most 32", pairs=512, most=32),
        Case("251 pairs of at most 61", pairs=251, most=61),
    )

    def inputs(self, case, rng):
        shape = (case.pairs, case.most)
        left = rng.integers(97, 101, shape, dtype=np.uint8)  # four letters
        right = rng.integers(97, 101, shape, dtype=np.uint8)
        kind = rng.integers(0, 4, case.pairs)
        alike = kind > 0
        right[alike] = np.where(rng.random((alike.sum(), case.most)) < 0.8, left[alike], right[alike])
        right[kind == 2] = np.roll(right[kind == 2], 1, axis=1)
        left[kind == 3, ::3] ^= 0x80  # letters beyond 127
        lengths = rng.integers(0, case.most + 1, (2, case.pairs), dtype=np.int32)
        lengths = np.where(rng.random((2, case.pairs)) < 0.7, case.most - lengths // 4, lengths).astype(np.int32)
        return {"left": left, "right": right, "left_lengths": lengths[0], "right_lengths": lengths[1]}

    def reference(self, case, left, right, left_lengths, right_lengths):
        places = np.arange(case.most + 1, dtype=np.int32)[:, None]
        row = np.repeat(places, case.pairs, axis=1)  # a column for each pair
        distances = right_lengths.copy()  # of the empty words on the left
        for i, letters in enumerate(left.T):
            replaced = row[:-1] + (right.T != letters)
            np.minimum(replaced, row[1:] + 1, out=row[1:])
            row[0] = i + 1
            row -= places  # an insertion adds 1 a place, so the least so far finds it
            np.minimum.accumulate(row, axis=0, out=row)
            row += places
            ends = np.flatnonzero(left_lengths == i + 1)
            distances[ends] = row[right_lengths[ends], ends]
        return distances
