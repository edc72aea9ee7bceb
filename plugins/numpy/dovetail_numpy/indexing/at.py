"""``x.at[index]``: updates of an array that return a new one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import dovetail_lax as lax
from dovetail_base.source import short_repr
from dovetail_core import here, type_shardings

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


def _updater(kind: str, doc: str, of_booleans: str | None = None) -> Callable[..., Any]:
    """A method that updates by ``kind``, booleans by ``of_booleans`` (their sum is a maximum)."""

    def update(
        self: IndexUpdateRef, values: Any, *, indices_are_sorted: bool = False,
        unique_indices: bool = False, mode: Any = None, out_sharding: Any = None,
        wrap_negative_indices: bool = True,
    ) -> Any:  # fmt: skip
        chosen = of_booleans if of_booleans and self.array.dtype.kind == "b" else kind
        return self._update(
            chosen, values, indices_are_sorted, unique_indices, mode,
            wrap_negative_indices, out_sharding,
        )  # fmt: skip

    update.__name__, update.__doc__ = kind, doc
    update.__qualname__ = f"IndexUpdateRef.{kind}"
    return update


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
    ``mode`` (``"drop"``, the default of updates: indices out of bounds are left out; ``"clip"``:
    the nearest index; ``"promise_in_bounds"``; for ``get`` also ``"fill"``) and
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
        """``x[index]``; indices out of bounds give ``fill_value`` (or NaN) with ``mode="fill"``.

        Without a mode ``fill_value`` has no effect, and indices out of bounds are clamped.
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

    set = _updater(
        "set",
        "``x`` with ``values`` at ``index``; for a repeated index one of its values, unspecified.",
    )
    add = _updater(
        "add", "``x`` with ``values`` added at ``index``; repeated indices receive the sum.", "max"
    )
    subtract = _updater("subtract", "``x`` with ``values`` subtracted at ``index``.")
    multiply = mul = _updater(
        "multiply",
        "``x`` multiplied by ``values`` at ``index``; at repeated indices by their product.",
        "min",
    )
    min = _updater("min", "``x`` with the lesser of itself and ``values`` at ``index``.")
    max = _updater("max", "``x`` with the greater of itself and ``values`` at ``index``.")

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


def at(array: Any) -> At:
    """``array.at``."""
    return At(array)
