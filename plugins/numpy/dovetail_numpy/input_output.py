"""Arrays as text, with NumPy's options, and in NumPy's file formats."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from dovetail_base.arguments import known_array
from dovetail_base.foreign import reword_errors
from dovetail_core import here
from dovetail_lax import dtypes

from .creation.arrays import asarray
from .operands import Array, ArrayLike, operand

set_printoptions = np.set_printoptions
get_printoptions = np.get_printoptions
printoptions = np.printoptions


@reword_errors
def array_repr(
    arr: ArrayLike, max_line_width: int | None = None, precision: int | None = None,
    suppress_small: bool | None = None,
) -> str:  # fmt: skip
    """``repr`` of an array with its own print options."""
    value = known_array(arr)
    body = np.array2string(value, max_line_width, precision, suppress_small, separator=", ",
                           prefix="Array(")  # fmt: skip
    tail = f"shape={value.shape}, " if value.size == 0 and value.shape != (0,) else ""
    return f"Array({body}, {tail}dtype={value.dtype.name})"


@reword_errors
def array_str(
    a: ArrayLike, max_line_width: int | None = None, precision: int | None = None,
    suppress_small: bool | None = None,
) -> str:  # fmt: skip
    """``str`` of an array with its own print options."""
    return np.array_str(
        np.asarray(operand("array_str", a)), max_line_width, precision, suppress_small
    )


_TWO_BYTES = np.dtype("V2")

save = np.save
savez = np.savez


@reword_errors
def load(file: Any, *args: Any, **kwargs: Any) -> Any:
    """The array in a ``.npy`` file, or a lazy mapping of those in an ``.npz`` file.

    For element types that are not NumPy's own, files have only the size: elements of two bytes are
    taken for bfloat16. Arrays of values other than numbers are returned as NumPy's.
    """
    result = np.load(file, *args, **kwargs)
    if not isinstance(result, np.ndarray):
        return result
    if result.dtype == _TWO_BYTES:
        result = result.view(dtypes.bfloat16)
    return asarray(result) if dtypes.kind_of(result.dtype) != "other" else result


def _not_pure(name: str) -> NoReturn:
    raise NotImplementedError(
        f"{name} is not supported: it reads from something that changes, so that results of traced "
        f"functions would not repeat{here()}. Use dovetail.numpy.asarray(numpy.{name}(...))."
    )


@reword_errors
def fromfile(*args: Any, **kwargs: Any) -> Array:
    """Not supported: use ``asarray(numpy.fromfile(...))``.

    Raises:
        NotImplementedError: always.
    """
    _not_pure("fromfile")


@reword_errors
def fromiter(*args: Any, **kwargs: Any) -> Array:
    """Not supported: use ``asarray(numpy.fromiter(...))``.

    Raises:
        NotImplementedError: always.
    """
    _not_pure("fromiter")
