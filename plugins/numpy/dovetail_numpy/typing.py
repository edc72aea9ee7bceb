"""Types for annotations of functions of arrays."""

from __future__ import annotations

from typing import Any, Protocol, TypeAlias, Union

import numpy as np

from dovetail_backends import Array

__all__ = ["ArrayLike", "DTypeLike"]


class SupportsDType(Protocol):
    """What has an element type, as scalar types such as ``dovetail.numpy.float32`` do."""

    @property
    def dtype(self) -> np.dtype[Any]: ...


# By ``typing.Union``: what ``X | Y`` makes of classes takes no forward reference (``| "Mine"``).
ArrayLike: TypeAlias = Union[  # noqa: UP007
    Array, np.ndarray, np.bool_, np.number, bool, int, float, complex  # pyright: ignore
]
"""What functions take for an array: arrays, tracers, NumPy's arrays and scalars, Python's numbers.

Sequences are not among them: convert those first (``dovetail.numpy.asarray``).
"""

DTypeLike: TypeAlias = Union[str, type[Any], np.dtype[Any], SupportsDType]  # noqa: UP007
"""What functions take for an element type."""
