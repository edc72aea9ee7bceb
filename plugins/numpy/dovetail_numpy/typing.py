"""Types for annotations of functions of arrays."""

from __future__ import annotations

from typing import Any, Protocol, TypeAlias, Union

import numpy as np

from dovetail_backends import Array

__all__ = ["ArrayLike", "DTypeLike"]


class SupportsDType(Protocol):
    """An object with an element type, such as the scalar type ``dovetail.numpy.float32``."""

    @property
    def dtype(self) -> np.dtype[Any]: ...


# By ``typing.Union``: a union ``X | Y`` of classes takes no forward reference (``| "Mine"``).
ArrayLike: TypeAlias = Union[  # noqa: UP007
    Array, np.ndarray, np.bool_, np.number, bool, int, float, complex  # pyright: ignore
]
"""Values that functions take as arrays: arrays, tracers, NumPy's arrays and scalars, numbers.

Sequences are not among them: convert those first (``dovetail.numpy.asarray``).
"""

DTypeLike: TypeAlias = Union[str, type[Any], np.dtype[Any], SupportsDType]  # noqa: UP007
"""Values that functions take as element types."""
