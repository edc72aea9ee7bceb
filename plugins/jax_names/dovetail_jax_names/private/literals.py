"""``jax._src.literals``. equinox, jaxtyping: ``TypedNdArray``, which they take for an array."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from ..absent_names import public


class TypedNdArray:
    """A NumPy array that says whether its type is weak. Programs hold none here."""

    __slots__ = ("val", "weak_type", "__weakref__")

    def __init__(self, val: np.ndarray[Any, Any], weak_type: bool = False) -> None:
        self.val, self.weak_type = np.asarray(val), weak_type

    @property
    def shape(self) -> tuple[int, ...]:
        return self.val.shape

    @property
    def ndim(self) -> int:
        return self.val.ndim

    @property
    def size(self) -> int:
        return self.val.size

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.val.dtype

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        return np.array(self.val, dtype, copy=copy)

    def __jax_array__(self) -> Any:
        return self.val

    def __repr__(self) -> str:
        return f"TypedNdArray({self.val!r}, weak_type={self.weak_type})"


class _Typed:
    """A number of Python's that has an element type. Programs hold none here."""

    dtype: np.dtype[Any]

    def __new__(cls, value: Any, dtype: Any) -> Self:
        made = super().__new__(cls, value)  # type: ignore[call-arg]
        made.dtype = np.dtype(dtype)
        return made

    def __repr__(self) -> str:
        return f"{type(self).__name__}({super().__repr__()}, dtype={self.dtype.name})"


class TypedInt(_Typed, int):
    """An integer that has an element type."""


class TypedFloat(_Typed, float):
    """A floating-point number that has an element type."""


class TypedComplex(_Typed, complex):
    """A complex number that has an element type."""


def __getattr__(name: str) -> Any:
    return public("jax._src.literals", name)
