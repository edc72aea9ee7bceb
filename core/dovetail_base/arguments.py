"""Arguments that many public functions have: integers, sequences and names, and their errors."""

from __future__ import annotations

from collections.abc import Callable
from operator import index
from typing import Any

import numpy as np

from dovetail_base.source import called, here, short_repr
from dovetail_xla.client import Device
from dovetail_xla.shardings import Sharding

from .errors import (
    ConcretizationTypeError,
    TracedArgumentError,
    TracedValueError,
    TracerArrayConversionError,
    TracerIntegerConversionError,
)
from .placements import resolve_placement


def integer(argument: str, value: Any) -> int:
    """``value`` as a Python integer; a tracer raises its own error.

    Raises:
        TypeError: it is none; names the argument, the function and the user's line.
    """
    try:
        return index(value)
    except TracerIntegerConversionError as e:
        raise TracedArgumentError(*e.args) from None
    except TracedValueError:
        raise
    except Exception:
        raise _wrong(argument, "an integer", value) from None


def axis_of(name: str, axis: Any, ndim: int) -> int:
    """An axis of an array of ``ndim`` dimensions as a number from 0; ``name`` is the function.

    Raises:
        ValueError: it is out of bounds.
    """
    result = integer("axis", axis)
    if not -ndim <= result < ndim:
        raise ValueError(
            f"{name}: axis {result} is out of bounds for an array of {ndim} dimensions{here()}"
        )
    return result % ndim


def array_of(x: Any) -> Any:
    """``x``, or the result of its ``__jax_array__`` if its class has that."""
    return x.__jax_array__() if hasattr(x.__class__, "__jax_array__") else x


def known_array(value: Any) -> Any:
    """``value`` as a NumPy array, by ``__jax_array__`` where it has that.

    Raises:
        ConcretizationTypeError: it is traced, or holds a traced value.
    """
    try:
        return np.asarray(array_of(value))
    except TracerArrayConversionError as e:
        raise ConcretizationTypeError(*e.args) from None


def items(argument: str, value: Any, item: Callable[[str, Any], Any] | None = None) -> Any:
    """The elements of a sequence as a tuple, each made by ``item(argument, element)``.

    Raises:
        TypeError: it is no sequence, or an element is none of those that ``item`` takes.
    """
    try:
        result = tuple(value)
    except TracedValueError:
        raise
    except Exception:
        raise _wrong(argument, "a sequence", value) from None
    return result if item is None else tuple([item(argument, x) for x in result])


def integers(argument: str, value: Any) -> tuple[int, ...]:
    """A sequence of integers, or one alone, as a tuple of Python integers.

    Raises:
        TypeError: it is none.
    """
    return (value,) if isinstance(value, int) else items(argument, value, integer)


def strings(argument: str, value: Any) -> tuple[str, ...]:
    """A sequence of strings, or one alone, as a tuple.

    Raises:
        TypeError: it is none.
    """
    return (value,) if isinstance(value, str) else items(argument, value, string)


def string(argument: str, value: Any) -> str:
    """``value`` if it is a string.

    Raises:
        TypeError: it is not.
    """
    if not isinstance(value, str):
        raise _wrong(argument, "a string", value)
    return value


def number(argument: str, value: Any) -> Any:
    """``value`` if it is a real Python or NumPy number.

    Raises:
        TypeError: it is not.
    """
    try:
        float(value)
    except TracedValueError:
        raise
    except Exception:
        raise _wrong(argument, "a number", value) from None
    return value


def hashable(argument: str, value: Any) -> Any:
    """``value`` if it can be hashed.

    Raises:
        TypeError: it cannot.
    """
    try:
        hash(value)
    except TypeError:
        raise _wrong(argument, "hashable", value) from None
    return value


def no_sharding(name: str, given: Any, argument: str = "out_sharding") -> None:
    """Refuse a sharding for the result of a function, since types have no shardings.

    A sharding that divides no axis, such as that of a type, is accepted and ignored.

    Raises:
        NotImplementedError: ``given`` divides an axis.
    """
    if given is not None and _divides(getattr(given, "spec", given)):
        raise NotImplementedError(
            f"{name} does not take {argument}, got {short_repr(given)}{here()}. Leave it out, or "
            "move the result with dovetail.device_put."
        )


def _divides(spec: Any) -> bool:
    """Return whether a partition spec divides an axis; True for what is no partition spec."""
    named = not hasattr(spec, "__iter__") or any(part is not None for part in spec)
    return named or bool(getattr(spec, "unreduced", ()))


def placement(argument: str, value: Any) -> Any:
    """``value`` if it is a device or a sharding, or the sharding that it stands for.

    Raises:
        TypeError: it is none of these, and ``argument`` is ``out_sharding``.
        ValueError: it is none of these, for any other argument.
    """
    value = resolve_placement(argument, value)
    if not isinstance(value, (Device, Sharding)):
        raise (TypeError if argument == "out_sharding" else ValueError)(
            f"{argument} must be a device or a sharding, got {short_repr(value)} of type "
            f"{type(value).__name__}{called()}. Give for example dovetail.devices('cpu')[0]."
        )
    return value


def _wrong(argument: str, wanted: str, value: Any) -> TypeError:
    return TypeError(
        f"{argument} must be {wanted}, got {short_repr(value)} of type {type(value).__name__}"
        f"{called()}"
    )
