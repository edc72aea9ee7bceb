"""The types of Python values, and their registration."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from dovetail_base.errors import ArrayProtocolError, masked_array
from dovetail_base.source import called, short_repr
from dovetail_xla.config import enable_x64_state

from ..registry.discovery import registry
from .avals import AbstractValue, ShapedArray
from .dtypes import canonical_dtype, is_number

TypeHandler = Callable[[Any], AbstractValue]
type_handlers: dict[type, TypeHandler] = {}
"""The functions that return the types of values, by Python class (see :func:`register_type`)."""


def register_type(cls: type, handler: TypeHandler) -> None:
    """Register instances of ``cls`` as values, of the abstract type ``handler(x)``."""
    type_handlers[cls] = handler


def typeof(x: Any) -> AbstractValue:
    """The abstract type of a value: an array, a tracer, a NumPy value, a Python scalar, or what a
    plugin registers.

    Raises:
        TypeError: ``x`` is of no registered type; the message lists those that are.
        ValueError: ``x`` is a masked array.
    """
    handler = type_handlers.get(x.__class__) or _inherited(x)
    return handler(x)


def is_value(x: Any) -> bool:
    """Return whether ``typeof(x)`` is defined."""
    if not any(c in type_handlers for c in type(x).__mro__):
        return False
    try:
        typeof(x)
    except (TypeError, ValueError):  # an array of strings, say
        return False
    return True


def _inherited(x: Any) -> TypeHandler:
    masks = sys.modules.get("numpy.ma")  # slow to import, and unused where it is not
    masked = getattr(masks, "MaskedArray", None)  # None, too, while another thread imports it
    if masked is not None and isinstance(x, masked):
        raise masked_array()
    for base in type(x).__mro__:
        if base in type_handlers:
            type_handlers[type(x)] = type_handlers[base]
            return type_handlers[base]
    if registry().import_types() or any(c in type_handlers for c in type(x).__mro__):
        return type_handlers.get(x.__class__) or _inherited(x)
    shown = short_repr(x)
    kind = ArrayProtocolError if hasattr(x, "__jax_array__") else TypeError
    raise kind(
        f"{shown} of type {type(x).__name__} is not a valid "
        "array value. Pass an array, a NumPy value or a Python scalar; for a container of arrays "
        "register its type as a pytree (dovetail.tree_util.register_pytree_node); mark other "
        f"arguments of jitted functions as static (static_argnums, static_argnames){called()}."
    )


def _scalar_handler(wide: str, narrow: str) -> TypeHandler:
    types = {True: ShapedArray((), wide, True), False: ShapedArray((), narrow, True)}
    return lambda x: types[enable_x64_state.value]


def _numpy_type(x: Any) -> ShapedArray:
    dtype = x.dtype
    long = dtype.char in "gG" and dtype.kind in "fc"  # more than 64 bits per number
    if long or dtype.kind in "OSUMm" or (dtype.kind == "V" and not is_number(dtype)):
        why = "only numbers and booleans can be traced"
        if long:
            why = "only numbers and booleans of 64 bits can be, devices hold no such elements"
        raise TypeError(
            f"an array of dtype {dtype} is not a valid array value{called()}: {why}. Convert it "
            "first, for example with x.astype(float)."
        )
    return ShapedArray(x.shape, canonical_dtype(dtype))


_bool_type = ShapedArray((), np.bool_)
register_type(bool, lambda x: _bool_type)
register_type(int, _scalar_handler("int64", "int32"))
register_type(float, _scalar_handler("float64", "float32"))
register_type(complex, _scalar_handler("complex128", "complex64"))
register_type(np.ndarray, _numpy_type)
register_type(np.generic, _numpy_type)
