"""The errors that the kernel raises on purpose; messages name the thing, the line, the remedy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

from dovetail_base.source import called, here, short_repr
from dovetail_xla.bindings import JaxRuntimeError as JaxRuntimeError


class DovetailError(Exception):
    """Base of the errors that belong to Dovetail alone."""


class RegistryError(DovetailError):
    """The declarations of plugins do not fit together: names, versions, contents."""


class PluginError(RegistryError):
    """A plugin cannot be loaded, or a name is asked for that only an absent plugin provides."""


class RuleConflict(RegistryError):
    """Two distributions fill the same rule."""


def masked_array() -> ValueError:
    """The error for a NumPy array with a mask."""
    return ValueError(
        "a masked array is not a valid array value: its mask would be lost"
        f"{called()}. Pass x.filled(value), or the mask as an array of its own."
    )


class ArrayProtocolError(TypeError, ValueError):
    """An object with ``__jax_array__`` was given to a function that does not convert to arrays."""


def integer_too_large(value: Any, dtype: Any) -> OverflowError:
    """The error for a Python integer that arrays of an element type cannot hold."""
    bits = value.bit_length() if isinstance(value, int) else 0
    text = f"of {bits} bits" if bits >= 200 else short_repr(value)
    kind = "integer" if isinstance(value, int) else type(value).__name__
    return OverflowError(
        f"the Python {kind} {text} does not fit into {dtype}{here()}. Enable "
        "64-bit types (dovetail.enable_x64), give a wider dtype, or use a floating-point number."
    )


def array_too_large(shape: Sequence[int], dtype: Any) -> ValueError:
    """The error for a shape whose number of elements or bytes no machine can count."""
    spelled = ", ".join(str(d) if d.bit_length() < 200 else "..." for d in shape)
    return ValueError(
        f"an array of shape ({spelled}) and element type {dtype} has more than 2**60 bytes"
        f"{called()}. Correct the shape."
    )


class MissingRule(RegistryError, NotImplementedError):
    """A transformation met a primitive for which it has no rule and can derive none."""

    def used_by(self, primitive: Any) -> MissingRule:
        """This error, raised by deriving or running a derived rule, with the primitive's name."""
        is_held = primitive.regions is not None
        inside = "In a sub-program" if is_held else "Used by the decomposition"
        return type(self)(f"{self} {inside} of {primitive.name!r}.")


class Unsupported(DovetailError, NotImplementedError):
    """A backend lacks something that a program needs, such as an element type."""


class JAXTypeError(TypeError):
    """Base of the errors about types of traced values."""


class JAXIndexError(IndexError):
    """Base of the errors about traced indices."""


class JaxprTypeError(TypeError):
    """The types in a program contradict each other."""


class IRError(DovetailError, JaxprTypeError):
    """A program breaks a rule of the IR (found by the checker or the parser)."""


class TracedValueError(JAXTypeError):
    """Base of the errors about a value that is not known while tracing and is needed at once."""


class ConcretizationTypeError(TracedValueError):
    """A value that is not known while tracing is needed as a Python value."""


class TracerBoolConversionError(ConcretizationTypeError):
    """A traced value is used as the condition of Python's ``if``, ``while``, ``and`` or ``or``."""


class TracerIntegerConversionError(TracedValueError):
    """A traced value is used where Python needs an integer."""


class TracedArgumentError(TracerIntegerConversionError, ConcretizationTypeError):
    """A traced value is an argument that must be a Python integer."""


class TracerArrayConversionError(TracedValueError):
    """A traced value is handed to NumPy."""


class NonConcreteBooleanIndexError(JAXIndexError):
    """A traced boolean array is used as an index, so the result's shape is unknown."""


class ShardingTypeError(DovetailError):
    """Types do not determine the division of a result along mesh axes, or contradict each other.

    Attributes:
        along: the axes along which operands of a sum are divided, if that makes the sum ambiguous.
        parts: how the dimensions of the sum are divided if it stays unreduced.
    """

    along: frozenset[Any] = frozenset()
    parts: tuple[Any, ...] = ()


class UnexpectedTracerError(DovetailError, JAXTypeError):
    """A tracer outlived the transformation that made it."""


class MutableResultError(TypeError, ValueError):
    """A mutable value is among the results of a function; JAX's error is a ValueError."""


def refuse_mutable_result(aval: Any, what: str) -> NoReturn:
    """Raise for a mutable value of type ``aval`` among the results of the function ``what``."""
    raise MutableResultError(
        f"{what} returned {aval.str_short()}, which is mutable: only values leave a transformed "
        "function. Return what it holds (ref[...], or dovetail.freeze(ref) after its last use), or "
        "make it outside of the function and pass it in."
    )


__all__ = [
    "ConcretizationTypeError",
    "DovetailError",
    "IRError",
    "JAXIndexError",
    "JAXTypeError",
    "JaxRuntimeError",
    "JaxprTypeError",
    "MissingRule",
    "NonConcreteBooleanIndexError",
    "PluginError",
    "RegistryError",
    "RuleConflict",
    "ShardingTypeError",
    "TracedValueError",
    "TracerArrayConversionError",
    "TracerBoolConversionError",
    "TracerIntegerConversionError",
    "UnexpectedTracerError",
    "Unsupported",
]
