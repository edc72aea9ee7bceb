"""Python's operators on arrays: one lookup by operand types, then the primitive."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import numpy as np

import dovetail_lax as lax
from dovetail_base.lazy import import_part
from dovetail_core import ShapedArray, is_inexact
from dovetail_core.dispatch.operators import LateMethod, own_operator

from .indexing.reading import getitem
from .iteration import rows
from .operands import here, short_repr, stands_for_array
from .promotion import default_int
from .ufuncs import arithmetic
from .ufuncs.plans import Binary, foreign


def _forward(engine: Binary, name: str) -> Callable[[Any, Any], Any]:
    """``x op y`` for an array ``x``; operands of unknown classes are left alone."""
    plans, miss, own = engine.plans, engine.miss, f"__{name}__"

    def forward(x: Any, y: Any) -> Any:
        try:
            plan = plans.get((x.aval, getattr(y, "aval", y.__class__)))
            if plan is not None:
                return plan(x, y)
        except TypeError:
            return converted(miss, y, x, y)
        result = own_operator(x, y, own)
        if result is not NotImplemented:
            return result
        return _left_alone(engine.name, y) if foreign(y) else miss(x, y)

    return forward


def _backward(engine: Binary, name: str) -> Callable[[Any, Any], Any]:
    """``y op x`` for an array ``x``; ``name`` begins with r."""
    plans, miss, reflected = engine.plans, engine.miss, f"__{name}__"

    def backward(x: Any, y: Any) -> Any:
        try:
            plan = plans.get((getattr(y, "aval", y.__class__), x.aval))
            if plan is not None:
                return plan(y, x)
        except TypeError:
            return converted(miss, y, y, x)
        result = own_operator(x, y, reflected)
        if result is not NotImplemented:
            return result
        return _left_alone(engine.name, y) if foreign(y) else miss(y, x)

    return backward


def converted(miss: Callable[[Any, Any], Any], operand: Any, *both: Any) -> Any:
    """Where a plan raised: what ``miss`` makes of an operand that stands for an array.

    One whose ``aval`` has no hash, or that forwards it to an array, is no array and left alone. The
    error of any other is raised again, without a name that would tie it to this frame.
    """
    if getattr(operand, "aval", operand.__class__).__class__.__hash__ is None:
        return NotImplemented
    if stands_for_array(operand):
        return miss(*both)
    if hasattr(operand, "aval") and not hasattr(operand.__class__, "aval"):
        return NotImplemented
    raise


def _left_alone(name: str, y: Any) -> Any:
    """NotImplemented, so that the other operand's class may answer; sequences never do.

    Python would take an array of one integer as the number of times to repeat a list.
    """
    if y.__class__ in (list, tuple, str, range):
        raise TypeError(
            f"{name} is not defined for an array and {short_repr(y)} of type {type(y).__name__}"
            f"{here()}: convert it first with dovetail.numpy.asarray"
        )
    return NotImplemented


def _comparison(engine: Binary, symbol: str, name: str) -> Callable[[Any, Any], Any]:
    plans, miss = engine.plans, engine.miss
    own = f"__{name}__"

    def compare(x: Any, y: Any) -> Any:
        try:
            plan = plans.get((x.aval, getattr(y, "aval", y.__class__)))
            if plan is not None:
                return plan(x, y)
        except TypeError:
            return converted(miss, y, x, y)
        result = own_operator(x, y, own)
        if result is not NotImplemented:
            return result
        if foreign(y):
            # Python would answer False for a list without asking anyone else.
            return _refuse(symbol, y) if isinstance(y, (list, tuple, set, dict)) else NotImplemented
        return miss(x, y)

    return compare


def _refuse(symbol: str, y: Any) -> NoReturn:
    raise TypeError(
        f"an array cannot be compared ({symbol}) with {short_repr(y)} of type {type(y).__name__}: "
        f"convert it first with dovetail.numpy.asarray{here()}"
    )


def _pow(x: Any, y: Any) -> Any:
    if x.aval.__class__ is ShapedArray and y.__class__ is not float:
        known = arithmetic.known_exponent(x, y)
        if known is not None:
            return arithmetic.integer_power(x, known)
    return _power(x, y)


def _mod_pow(x: Any, y: Any, modulus: Any = None, /) -> Any:
    return NotImplemented if modulus is not None else _pow(x, y)


_power, _rpow = _forward(arithmetic.POWER, "pow"), _backward(arithmetic.POWER, "rpow")


def _rpow_plain(x: Any, y: Any, modulus: Any = None, /) -> Any:
    if modulus is not None:
        return NotImplemented
    if isinstance(y, _KNOWN_BASES) and not foreign(y):
        known = arithmetic.known_exponent(y, x)
        if known is not None:
            return arithmetic.integer_power(y, known)
    return _rpow(x, y)


_KNOWN_BASES = (int, np.integer, np.ndarray)


def _divmod(x: Any, y: Any) -> Any:
    result = own_operator(x, y, "__divmod__")
    if result is not NotImplemented:
        return result
    return NotImplemented if foreign(y) else arithmetic.divmod(x, y)


def _rdivmod(x: Any, y: Any) -> Any:
    result = own_operator(x, y, "__rdivmod__")
    if result is not NotImplemented:
        return result
    return NotImplemented if foreign(y) else arithmetic.divmod(y, x)


def _round(x: Any, ndigits: int | None = None) -> Any:
    from .ufuncs.rounding import round

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
    """Whether an element of a vector equals a number.

    Raises:
        ValueError: it is no vector, or no number: what would then be asked is not clear.
    """
    from .reductions.basic import any as any_of
    from .ufuncs.comparisons import EQUAL

    for name, value, ndim in (("the array", x, 1), ("what is looked for", item, 0)):
        if len(shape := getattr(value, "shape", ())) != ndim:
            raise ValueError(
                f"the operator in: {name} must have {ndim} dimensions, got shape {shape}{here()}. "
                "Write (x == item).any(), with all(axis=...) for whole rows."
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
    from .ufuncs.unary import NEGATIVE

    return NEGATIVE(x)


def _pos(x: Any) -> Any:
    from .ufuncs.unary import POSITIVE

    return POSITIVE(x)


def _abs(x: Any) -> Any:
    from .ufuncs.unary import ABS

    return ABS(x)


def _invert(x: Any) -> Any:
    from .ufuncs.unary import INVERT

    return INVERT(x)


_PAIRS = {
    "add": "arithmetic.ADD", "sub": "arithmetic.SUBTRACT", "mul": "arithmetic.MULTIPLY",
    "truediv": "arithmetic.DIVIDE", "floordiv": "arithmetic.FLOOR_DIVIDE",
    "mod": "arithmetic.REMAINDER", "and": "comparisons.AND", "or": "comparisons.OR",
    "xor": "comparisons.XOR", "lshift": "bits.LEFT_SHIFT", "rshift": "bits.RIGHT_SHIFT",
}  # fmt: skip
_COMPARISONS = {
    "eq": ("comparisons.EQUAL", "=="), "ne": ("comparisons.NOT_EQUAL", "!="),
    "lt": ("comparisons.LESS", "<"), "le": ("comparisons.LESS_EQUAL", "<="),
    "gt": ("comparisons.GREATER", ">"), "ge": ("comparisons.GREATER_EQUAL", ">="),
}  # fmt: skip


def _late(make: Callable[..., Any], where: str, *about: Any) -> LateMethod:
    """The method that ``make`` makes of an engine of ``ufuncs`` when it is first used."""

    def find() -> Any:
        module, _, name = where.partition(".")
        method = make(getattr(import_part(f"{__package__}.ufuncs.{module}"), name), *about)
        method.__name__ = f"__{about[-1]}__"
        return method

    return LateMethod(find)


def _product(name: str) -> LateMethod:
    return LateMethod(lambda: getattr(import_part(f"{__package__}.contraction.operator"), name))


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
    for name in ("matmul", "rmatmul"):
        out[f"__{name}__"] = _product(name)
    for name, where in _PAIRS.items():
        out[f"__{name}__"] = _late(_forward, where, name)
        out[f"__r{name}__"] = _late(_backward, where, f"r{name}")
    for name, (where, symbol) in _COMPARISONS.items():
        out[f"__{name}__"] = _late(_comparison, where, symbol, name)
    return out
