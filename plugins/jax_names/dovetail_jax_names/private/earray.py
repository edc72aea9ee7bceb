"""``jax._src.earray``. flax (``linen.fp8_ops``): ``EArray``, a value of an extended dtype."""

from __future__ import annotations

from typing import Any

from dovetail_core import ShapedArray, register_type

from ..absent_names import public


class EArray:
    """An array of an extended dtype, made of an array of numbers of its own shape.

    Args:
        aval: its type, of a dtype that is an ``ExtendedDType`` of ``jax._src.dtypes``.
        data: the array of numbers.
    """

    __slots__ = ("dtype", "_data", "__weakref__")

    def __init__(self, aval: ShapedArray, data: Any) -> None:
        self.dtype: Any = aval.dtype
        self._data = data

    @classmethod
    def of(cls, dtype: Any, data: Any) -> EArray:
        """The value of a dtype that is made of ``data``, which may be anything meanwhile."""
        made = object.__new__(cls)
        made.dtype, made._data = dtype, data
        return made

    @property
    def aval(self) -> ShapedArray:
        return ShapedArray(self._data.shape, self.dtype)

    @property
    def shape(self) -> tuple[int, ...]:
        return self._data.shape

    @property
    def ndim(self) -> int:
        return self._data.ndim

    @property
    def size(self) -> int:
        return self._data.size

    def block_until_ready(self) -> EArray:
        """Wait until the array is computed."""
        self._data.block_until_ready()
        return self

    def __repr__(self) -> str:
        return f"EArray({self.aval.str_short()}, {self._data!r})"


register_type(EArray, lambda x: x.aval)


def __getattr__(name: str) -> Any:
    return public("jax._src.earray", name)
