"""The array types of scoring, and the check of their shapes."""

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]


def check_shape(name: str, array: npt.NDArray[np.generic], shape: tuple[int, ...]) -> None:
    """Raise ValueError unless `array` has `shape`."""
    if array.shape != shape:
        raise ValueError(f"{name} has shape {array.shape}, expected {shape}: a row per entrant, a column per problem")
