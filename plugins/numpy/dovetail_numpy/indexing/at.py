"""``x.at[index]``: updates of an array that return a new one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import dovetail_lax as lax
from dovetail_core import here, type_shardings

from ..operands import short_repr
from . import reading, writing
from .reading import Options

_WRITE_DEFAULT = Options("drop")


def _write_options(
    mode: Any, indices_are_sorted: bool, unique_indices: bool, wrap_negative_indices: bool
) -> Options:
    if mode is None and wrap_negative_indices and not indices_are_sorted and not unique_indices:
        return _WRITE_DEFAULT
    return Options("drop" if mode is None else mode, None, indices_are_sorted, unique_indices,
                   wrap_negative_indices)  # fmt: skip


class At:
    """The value of ``x.at``; indexing it gives an :class:`IndexUpdateRef`."""

    __slots__ = ("array",)

    def __init__(self, array: Any) -> None:
        self.array = array

    def __getitem__(self, index: Any) -> IndexUpdateRef:
        return IndexUpdateRef(self.array, index)

    def __repr__(self) -> str:
        return f"At({short_repr(self.array)})"


class IndexUpdateRef:
    """The value of ``x.at[index]``: its methods return updated copies of ``x``.

    All take ``indices_are_sorted`` and ``unique_indices`` (promises that make them faster),
    ``mode`` (``"drop"``, the default of updates: places outside are left out; ``"clip"``: the
    nearest place; ``"promise_in_bounds"``; for ``get`` also ``"fill"``) and
    ``wrap_negative_indices`` (whether negative indices count from the end), and ``out_sharding``
    (how the result is divided along axes of a mesh of type ``Explicit``, where that is ambiguous).
    """

    __slots__ = ("array", "index")

    def __init__(self, array: Any, index: Any) -> None:
        self.array = array
        self.index = index

    def __repr__(self) -> str:
        return f"IndexUpdateRef({short_repr(self.array)}, {short_repr(self.index)})"

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(
            f"x.at[...] has no method {name!r}; it has get, set, add, subtract, multiply (mul), "
            f"divide, power, min, max and apply{here()}"
        )

    def get(
        self, *, indices_are_sorted: bool = False, unique_indices: bool = False, mode: Any = None,
        fill_value: Any = None, out_sharding: Any = None, wrap_negative_indices: bool = True,
    ) -> Any:  # fmt: skip
        """``x[index]``; places outside give ``fill_value`` (or NaN) with ``mode="fill"``.

        Without a mode ``fill_value`` has no effect, and places outside are clamped.
        """
        options = Options(
            mode, fill_value, indices_are_sorted, unique_indices, wrap_negative_indices
        )
        if out_sharding is not None:
            given = self.array, self.index, options
            return type_shardings.with_out_sharding(out_sharding, reading.getitem, *given)
        return reading.getitem(self.array, self.index, options)

    def _update(
        self, kind: str, values: Any, indices_are_sorted: bool, unique_indices: bool, mode: Any,
        wrap_negative_indices: bool, out_sharding: Any,
    ) -> Any:  # fmt: skip
        options = _write_options(mode, indices_are_sorted, unique_indices, wrap_negative_indices)
        if out_sharding is not None:
            given = self.array, self.index, kind, values, options
            return type_shardings.with_out_sharding(out_sharding, writing.update, *given)
        return writing.update(self.array, self.index, kind, values, options)

    def set(
        self, values: Any, *, indices_are_sorted: bool = False, unique_indices: bool = False,
        mode: Any = None, out_sharding: Any = None, wrap_negative_indices: bool = True,
    ) -> Any:  # fmt: skip
        """``x`` with ``values`` at ``index``; which one of several at one place is unspecified."""
        return self._update("set", values, indices_are_sorted, unique_indices, mode,
                            wrap_negative_indices, out_sharding)  # fmt: skip

    def apply(
        self, func: Callable[[Any], Any], *, indices_are_sorted: bool = False,
        unique_indices: bool = False, mode: Any = None, out_sharding: Any = None,
        wrap_negative_indices: bool = True,
    ) -> Any:  # fmt: skip
        """``x`` with ``func`` applied to its elements at ``index``, once for each occurrence."""
        options = _write_options(mode, indices_are_sorted, unique_indices, wrap_negative_indices)
        if out_sharding is not None:
            given = self.array, self.index, func, options
            return type_shardings.with_out_sharding(out_sharding, writing.apply, *given)
        return writing.apply(self.array, self.index, func, options)

    def add(
        self, values: Any, *, indices_are_sorted: bool = False, unique_indices: bool = False,
        mode: Any = None, out_sharding: Any = None, wrap_negative_indices: bool = True,
    ) -> Any:  # fmt: skip
        """``x`` with ``values`` added at ``index``; repeated places receive the sum."""
        kind = "max" if self.array.dtype.kind == "b" else "add"  # or
        return self._update(kind, values, indices_are_sorted, unique_indices, mode,
                            wrap_negative_indices, out_sharding)  # fmt: skip

    def subtract(
        self, values: Any, *, indices_are_sorted: bool = False, unique_indices: bool = False,
        mode: Any = None, out_sharding: Any = None, wrap_negative_indices: bool = True,
    ) -> Any:  # fmt: skip
        """``x`` with ``values`` subtracted at ``index``."""
        return self._update("subtract", values, indices_are_sorted, unique_indices, mode,
                            wrap_negative_indices, out_sharding)  # fmt: skip

    def multiply(
        self, values: Any, *, indices_are_sorted: bool = False, unique_indices: bool = False,
        mode: Any = None, out_sharding: Any = None, wrap_negative_indices: bool = True,
    ) -> Any:  # fmt: skip
        """``x`` multiplied by ``values`` at ``index``; repeated places by their product."""
        kind = "min" if self.array.dtype.kind == "b" else "multiply"  # and
        return self._update(kind, values, indices_are_sorted, unique_indices, mode,
                            wrap_negative_indices, out_sharding)  # fmt: skip

    mul = multiply

    def divide(
        self, values: Any, *, indices_are_sorted: bool = False, unique_indices: bool = False,
        mode: Any = None, out_sharding: Any = None, wrap_negative_indices: bool = True,
    ) -> Any:  # fmt: skip
        """``x`` divided by ``values`` at ``index``."""
        from ..ufuncs.arithmetic import DIVIDE

        ones = IndexUpdateRef(lax.full_like(self.array, 1), self.index)
        divisors = ones._update("multiply", values, indices_are_sorted, unique_indices, mode,
                                wrap_negative_indices, out_sharding)  # fmt: skip
        return DIVIDE(self.array, divisors)

    def power(
        self, values: Any, *, indices_are_sorted: bool = False, unique_indices: bool = False,
        mode: Any = None, out_sharding: Any = None, wrap_negative_indices: bool = True,
    ) -> Any:  # fmt: skip
        """``x`` raised to the power of ``values`` at ``index``."""
        from ..ufuncs.arithmetic import power

        ones = IndexUpdateRef(lax.full_like(self.array, 1), self.index)
        exponents = ones._update("multiply", values, indices_are_sorted, unique_indices, mode,
                                 wrap_negative_indices, out_sharding)  # fmt: skip
        return power(self.array, exponents)

    def min(
        self, values: Any, *, indices_are_sorted: bool = False, unique_indices: bool = False,
        mode: Any = None, out_sharding: Any = None, wrap_negative_indices: bool = True,
    ) -> Any:  # fmt: skip
        """``x`` with the lesser of itself and ``values`` at ``index``."""
        return self._update("min", values, indices_are_sorted, unique_indices, mode,
                            wrap_negative_indices, out_sharding)  # fmt: skip

    def max(
        self, values: Any, *, indices_are_sorted: bool = False, unique_indices: bool = False,
        mode: Any = None, out_sharding: Any = None, wrap_negative_indices: bool = True,
    ) -> Any:  # fmt: skip
        """``x`` with the greater of itself and ``values`` at ``index``."""
        return self._update("max", values, indices_are_sorted, unique_indices, mode,
                            wrap_negative_indices, out_sharding)  # fmt: skip


def at(array: Any) -> At:
    """``array.at``."""
    return At(array)
