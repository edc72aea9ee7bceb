"""Placement of host values: they become runtime arrays on devices or shardings."""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail_backends import asarray_in, selection
from dovetail_base import arguments
from dovetail_base.errors import JaxRuntimeError
from dovetail_base.placements import resolve_placement, surroundings
from dovetail_base.source import called, short_repr
from dovetail_core import EVAL, ShapedArray, float0, get_trace
from dovetail_xla import arrays as runtime
from dovetail_xla.shardings import NamedSharding

from .. import array_type as array_type  # names it

HOST_LIMIT = 1 << 16
"""Constants of at most so many elements are made by NumPy when evaluated, without compilation."""


def put(value: Any, aval: ShapedArray) -> Any:
    """A NumPy value (or a Python number) as a runtime array of type ``aval``."""
    try:
        around = surroundings()
        if around is not None:
            return asarray_in(value, aval, around)
        return runtime.put(value, aval, selection.target_device())
    except RuntimeError:
        if aval.dtype == float0:
            raise TypeError(
                f"an array of dtype float0 stands for no derivative and has no elements{called()}. "
                "Take zeros of the dtype that you want."
            ) from None
        raise


def to_device(x: Any, device: Any) -> Any:
    """An array on ``device`` (a device or a sharding)."""
    from dovetail_backends import device_put

    return device_put(x, arguments.placement("device", device))


def is_traced() -> bool:
    """True while operations are traced."""
    return get_trace() is not EVAL


def resolve(device: Any, out_sharding: Any) -> Any:
    """The device or sharding that one of the arguments ``device`` and ``out_sharding`` gives.

    Raises:
        ValueError: both are given.
        TypeError: ``out_sharding`` is no sharding over devices of a mesh.
    """
    if out_sharding is None:
        return device
    if device is not None:
        raise ValueError(
            f"device and out_sharding are both given{called()}: {short_repr(device)} and "
            f"{short_repr(out_sharding)}. Give one of them."
        )
    if is_one_device(out_sharding):
        raise TypeError(
            f"out_sharding must be a NamedSharding or a PartitionSpec, got "
            f"{short_repr(out_sharding)} of type {type(out_sharding).__name__}{called()}. Other "
            "placements are given as device."
        )
    return out_sharding


def is_one_device(target: Any) -> bool:
    """True unless ``target``, as given by a user, is a sharding over devices of a mesh."""
    result = resolve_placement("out_sharding", target)
    return result.__class__ is not NamedSharding


def constant(value: Any) -> Any:
    """A NumPy value of canonical dtype as an array, whatever is being traced."""
    value = np.asarray(value)
    return put(value, ShapedArray(value.shape, value.dtype))


def unguarded_constant(value: Any) -> Any:
    """:func:`constant` for a value that no user passed: transfer guards do not refuse it."""
    try:
        return constant(value)
    except JaxRuntimeError:
        from dovetail_backends import guards

        with guards.transfer_guard_host_to_device("allow"):
            return constant(value)


def on_host(size: int) -> bool:
    """True if NumPy makes a constant of ``size`` elements: it is small, and nothing is traced."""
    return size <= HOST_LIMIT and get_trace() is EVAL
