"""``jax._src.earray``. flax (``linen.fp8_ops``): ``EArray``, a value of an extended dtype."""

from __future__ import annotations

from typing import Any

from dovetail_core import ShapedArray, register_type

from .absent import absent


class EArray:
    """An array of an extended dtype, made of an array of numbers of its own shape.

    Args:
        aval: its type, of a dtype that is an ``ExtendedDType`` of ``jax._src.dtypes``.
        data: the array of numbers.
    """

    __slots__ = ("aval", "_data", "__weakref__")

    def __init__(self, aval: ShapedArray, data: Any) -> None:
        self.aval, self._data = aval, data

    @property
    def shape(self) -> tuple[int, ...]:
        return self.aval.shape

    @property
    def ndim(self) -> int:
        return len(self.aval.shape)

    @property
    def size(self) -> int:
        return self._data.size

    @property
    def dtype(self) -> Any:
        return self.aval.dtype

    def block_until_ready(self) -> EArray:
        """Wait until the array is computed."""
        self._data.block_until_ready()
        return self

    def __repr__(self) -> str:
        return f"EArray({self.aval.str_short()}, {self._data!r})"


register_type(EArray, lambda x: x.aval)


def __getattr__(name: str) -> Any:
    raise absent("jax._src.earray", name)
