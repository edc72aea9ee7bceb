"""How arrays are printed: NumPy's options and functions, for arrays of ours."""

from __future__ import annotations

import numpy as np

from .operands import ArrayLike

set_printoptions = np.set_printoptions
get_printoptions = np.get_printoptions
printoptions = np.printoptions


def array_repr(
    arr: ArrayLike, max_line_width: int | None = None, precision: int | None = None,
    suppress_small: bool | None = None,
) -> str:  # fmt: skip
    """``repr`` of an array with its own print options."""
    value = np.asarray(arr)
    body = np.array2string(value, max_line_width, precision, suppress_small, separator=", ",
                           prefix="Array(")  # fmt: skip
    tail = f"shape={value.shape}, " if value.size == 0 and value.shape != (0,) else ""
    return f"Array({body}, {tail}dtype={value.dtype.name})"


def array_str(
    a: ArrayLike, max_line_width: int | None = None, precision: int | None = None,
    suppress_small: bool | None = None,
) -> str:  # fmt: skip
    """``str`` of an array with its own print options."""
    return np.array_str(np.asarray(a), max_line_width, precision, suppress_small)
