"""Copies of arrays: ``copy``, ``deepcopy`` and pickling."""

from __future__ import annotations

from typing import Any

from dovetail_core import ShapedArray
from dovetail_core.xla import arrays
from dovetail_core.xla.arrays import ArrayCopySemantics, ArrayImpl, install

from .state import check_usable
from .values import value_of


def copied(x: ArrayImpl) -> ArrayImpl:
    """The same value, on the same devices, in memory of its own.

    Raises:
        RuntimeError: the array was deleted or donated.
    """
    check_usable((x,))
    devices = x._sharding._internal_device_list
    always = ArrayCopySemantics.ALWAYS_COPY
    return arrays.copy_arrays([x], [devices], [x._sharding], always)[0]


def _deepcopy(self: ArrayImpl, memo: Any) -> ArrayImpl:
    return copied(self)


def _reduce(self: ArrayImpl) -> tuple[Any, ...]:
    return rebuild, (value_of(self), self.aval.weak_type)


def rebuild(value: Any, weak_type: bool) -> ArrayImpl:
    """An array from a pickled value: of exactly its dtype, on the default device."""
    from ..selection import target_device

    return arrays.put(value, ShapedArray(value.shape, value.dtype, weak_type), target_device())


install("__copy__", copied)
install("__deepcopy__", _deepcopy)
install("__reduce__", _reduce)
