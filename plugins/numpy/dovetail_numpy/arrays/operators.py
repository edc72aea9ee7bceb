"""Python's operators on arrays: one lookup by operand types, then the primitive."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import numpy as np

import dovetail_lax as lax
from dovetail_base.lazy import import_part
from dovetail_base.source import short_repr
from dovetail_core import AbstractValue, ShapedArray, Tracer, here, is_inexact, value_methods

from ..indexing.reading import getitem
from ..operands import has_array_conversion
from ..promotion import default_int
from ..ufuncs import arithmetic
from ..ufuncs.plans import Binary
from .iteration import rows

Engine = Binary | Any
"""A function of two operands with ``name``, ``plans`` by operand types, and ``miss`` for others."""
Decline = Callable[[Engine, Any], Any]
"""``(engine, y)``: the operator's result for an operand ``y`` of a foreign class, or an error."""


def _forward(engine: Engine, name: str, decline: Decline) -> Callable[[Any, Any], Any]:
    """The method for ``x op y`` of an array ``x``."""
    plans, miss, own = engine.plans, engine.miss, f"__{name}__"

    def forward(x: Any, y: Any) -> Any:
        try:
            plan = plans.get((x.aval, getattr(y, "aval", y.__class__)))
            if plan is not None:
                return plan(x, y)
        except TypeError:
            return _retried(miss, y, x, y)
        result = value_methods.own_operator(x, y, own)
        if result is not NotImplemented:
            return result
        return decline(engine, y) if foreign(y) else miss(x, y)

    return forward


def _reflected(engine: Engine, name: str, decline: Decline) -> Callable[[Any, Any], Any]:
    """The method for ``y op x`` of an array ``x``; ``name`` begins with r."""
    plans, miss, own = engine.plans, engine.miss, f"__{name}__"

    def reflected(x: Any, y: Any) -> Any:
        try:
            plan = plans.get((getattr(y, "aval", y.__class__), x.aval))
            if plan is not None:
                return plan(y, x)
        except TypeError:
            return _retried(miss, y, y, x)
        result = value_methods.own_operator(x, y, own)
        if result is not NotImplemented:
            return result
        return decline(engine, y) if foreign(y) else miss(y, x)

    return reflected


def _retried(miss: Callable[[Any, Any], Any], operand: Any, *both: Any) -> Any:
    """The result after a plan raised a TypeError: that of ``miss`` if ``operand`` converts itself.

    NotImplemented for an operand that is no array: its ``aval`` has no hash, or is forwarded from
    an array. For any other the error is raised again, without a name that would keep this frame.
    """
    if getattr(operand, "aval", operand.__class__).__class__.__hash__ is None:
        return NotImplemented
    if has_array_conversion(operand):
        return miss(*both)
    if hasattr(operand, "aval") and not hasattr(operand.__class__, "aval"):
        return NotImplemented
    raise


def _decline(engine: Engine, y: Any) -> Any:
    """NotImplemented, so that the other operand's class may answer; sequences never do.

    Python would take an array of one integer as the number of times to repeat a list.
    """
    if y.__class__ in (list, tuple, str, range):
        raise TypeError(
            f"{engine.name} is not defined for an array and {short_repr(y)} of type "
            f"{type(y).__name__}{here()}: convert it first with dovetail.numpy.asarray"
        )
    return NotImplemented


def _decline_comparison(symbol: str) -> Decline:
    def decline(engine: Engine, y: Any) -> Any:
        # Python would answer False for a list without asking anyone else.
        if not isinstance(y, (list, tuple, set, dict)):
            return NotImplemented
        raise TypeError(
            f"an array cannot be compared ({symbol}) with {short_repr(y)} of type "
            f"{type(y).__name__}: convert it first with dovetail.numpy.asarray{here()}"
        )

    return decline


def foreign(y: Any) -> bool:
    """True for an operand that is left to the operator of its own class."""
    if isinstance(y, Tracer) or _is_number(y):
        return False
    # An object that forwards its attributes to an array has an aval, its class has none; the aval
    # of a container with the attributes of arrays describes all of its elements.
    return not (hasattr(y.__class__, "aval") and isinstance(y.aval, AbstractValue))


def _is_number(y: Any) -> bool:
    return isinstance(y, (bool, int, float, complex, np.ndarray, np.generic)) or hasattr(
        y, "__jax_array__"
    )


def _pow(x: Any, y: Any) -> Any:
    if x.aval.__class__ is ShapedArray and y.__class__ is not float:
        exponent = arithmetic.known_exponent(x, y)
        if exponent is not None:
            return arithmetic.integer_power(x, exponent)
    return _power(x, y)


def _mod_pow(x: Any, y: Any, modulus: Any = None, /) -> Any:
    return NotImplemented if modulus is not None else _pow(x, y)


_power = _forward(arithmetic.POWER, "pow", _decline)
_rpow = _reflected(arithmetic.POWER, "rpow", _decline)


def _rpow_plain(x: Any, y: Any, modulus: Any = None, /) -> Any:
    if modulus is not None:
        return NotImplemented
    if isinstance(y, _INTEGER_BASES) and not foreign(y):
        exponent = arithmetic.known_exponent(y, x)
        if exponent is not None:
            return arithmetic.integer_power(y, exponent)
    return _rpow(x, y)


_INTEGER_BASES = (int, np.integer, np.ndarray)


def _divmod(x: Any, y: Any) -> Any:
    result = value_methods.own_operator(x, y, "__divmod__")
    if result is not NotImplemented:
        return result
    return NotImplemented if foreign(y) else arithmetic.divmod(x, y)


def _rdivmod(x: Any, y: Any) -> Any:
    result = value_methods.own_operator(x, y, "__rdivmod__")
    if result is not NotImplemented:
        return result
    return NotImplemented if foreign(y) else arithmetic.divmod(y, x)


def _round(x: Any, ndigits: int | None = None) -> Any:
    from ..ufuncs.rounding import round

    if ndigits is not None:
        return round(x, ndigits)
    rounded = round(x, 0) if is_inexact(x.dtype) or x.dtype.kind == "b" else x
    return lax.convert_element_type(rounded, default_int())  # as of Python numbers


def _len(x: Any) -> int:
    shape = x.shape
    if not shape:
        raise TypeError(f"len() of an array without dimensions{here()}")
    return shape[0]


def _iter(x: Any) -> Iterator[Any]:
    return rows(x)


def _reversed(x: Any) -> Iterator[Any]:
    return iter(list(rows(x))[::-1])


def _contains(x: Any, item: Any) -> bool:
    """True if an element of a vector equals a number.

    Raises:
        ValueError: ``x`` is no vector or ``item`` no number, so that the question is ambiguous.
    """
    from ..reductions.basic import any as any_of
    from ..ufuncs.comparisons import EQUAL

    for name, value, ndim in (("the array", x, 1), ("the value", item, 0)):
        if len(shape := getattr(value, "shape", ())) != ndim:
            raise ValueError(
                f"the operator in: {name} must have {ndim} dimensions, got shape {shape}{here()}. "
                "Write (x == item).any(), with all(axis=...) for rows."
            )
    return bool(any_of(EQUAL(x, item)))


def _getitem(x: Any, index: Any) -> Any:
    return getitem(x, index)


def _setitem(x: Any, index: Any, value: Any) -> NoReturn:
    raise TypeError(
        f"arrays are immutable, so that x[index] = value does not work{here()}. Use the copy that "
        "x = x.at[index].set(value) returns."
    )


def _neg(x: Any) -> Any:
    from ..ufuncs.unary import NEGATIVE

    return NEGATIVE(x)


def _pos(x: Any) -> Any:
    from ..ufuncs.unary import POSITIVE

    return POSITIVE(x)


def _abs(x: Any) -> Any:
    from ..ufuncs.unary import ABS

    return ABS(x)


def _invert(x: Any) -> Any:
    from ..ufuncs.unary import INVERT

    return INVERT(x)


_PAIRS = {
    "add": "ufuncs.arithmetic.ADD", "sub": "ufuncs.arithmetic.SUBTRACT",
    "mul": "ufuncs.arithmetic.MULTIPLY", "truediv": "ufuncs.arithmetic.DIVIDE",
    "floordiv": "ufuncs.arithmetic.FLOOR_DIVIDE", "mod": "ufuncs.arithmetic.REMAINDER",
    "and": "ufuncs.comparisons.AND", "or": "ufuncs.comparisons.OR",
    "xor": "ufuncs.comparisons.XOR", "lshift": "ufuncs.bits.LEFT_SHIFT",
    "rshift": "ufuncs.bits.RIGHT_SHIFT", "matmul": "contraction.matmul.MATMUL",
}  # fmt: skip
"""Engines of binary operators by the operators' names; their modules are imported when used."""
_COMPARISONS = {
    "eq": ("EQUAL", "=="), "ne": ("NOT_EQUAL", "!="), "lt": ("LESS", "<"),
    "le": ("LESS_EQUAL", "<="), "gt": ("GREATER", ">"), "ge": ("GREATER_EQUAL", ">="),
}  # fmt: skip


def _late(
    make: Callable[..., Any], engine: str, name: str, decline: Decline
) -> value_methods.LateMethod:
    """The method ``name`` that ``make`` makes of an engine when it is first used."""

    def load() -> Any:
        module, _, attribute = f"dovetail_numpy.{engine}".rpartition(".")
        method = make(getattr(import_part(module), attribute), name, decline)
        method.__name__ = f"__{name}__"
        return method

    return value_methods.LateMethod(load)


def operators() -> dict[str, Any]:
    """Methods with two underscores, by name."""
    out: dict[str, Any] = {
        "__pow__": _mod_pow, "__rpow__": _rpow_plain, "__divmod__": _divmod,
        "__rdivmod__": _rdivmod,
        "__round__": _round, "__len__": _len, "__iter__": _iter, "__reversed__": _reversed,
        "__contains__": _contains, "__getitem__": _getitem, "__setitem__": _setitem,
        "__neg__": _neg, "__pos__": _pos, "__abs__": _abs, "__invert__": _invert,
    }  # fmt: skip
    for name, method in out.items():
        method.__name__ = name
    for name, engine in _PAIRS.items():
        out[f"__{name}__"] = _late(_forward, engine, name, _decline)
        out[f"__r{name}__"] = _late(_reflected, engine, f"r{name}", _decline)
    for name, (engine, symbol) in _COMPARISONS.items():
        decline = _decline_comparison(symbol)
        out[f"__{name}__"] = _late(_forward, f"ufuncs.comparisons.{engine}", name, decline)
    return out
