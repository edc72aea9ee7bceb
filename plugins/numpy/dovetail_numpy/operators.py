"""Python's operators on arrays: one lookup by operand types, then the primitive."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import dovetail_lax as lax
from dovetail_core import ShapedArray
from dovetail_core.dispatch.operators import own_operator

from .contraction.matmul import MATMUL
from .indexing.reading import getitem
from .iteration import rows
from .operands import here, short_repr, stands_for_array
from .ufuncs import arithmetic, bits, comparisons, unary
from .ufuncs.plans import Binary, foreign


def _operator(
    engine: Binary, name: str
) -> tuple[Callable[[Any, Any], Any], Callable[[Any, Any], Any]]:
    """``x op y`` and ``y op x`` for an array ``x``; operands of unknown classes are left alone."""
    plans, miss = engine.plans, engine.miss
    own, reflected = f"__{name}__", f"__r{name}__"

    def forward(x: Any, y: Any) -> Any:
        try:
            plan = plans.get((x.aval, getattr(y, "aval", y.__class__)))
            if plan is not None:
                return plan(x, y)
        except TypeError:
            return _converted(miss, y, x, y)
        found = own_operator(x, y, own)
        if found is not NotImplemented:
            return found
        return _left_alone(engine.name, y) if foreign(y) else miss(x, y)

    def backward(x: Any, y: Any) -> Any:
        try:
            plan = plans.get((getattr(y, "aval", y.__class__), x.aval))
            if plan is not None:
                return plan(y, x)
        except TypeError:
            return _converted(miss, y, y, x)
        found = own_operator(x, y, reflected)
        if found is not NotImplemented:
            return found
        return _left_alone(engine.name, y) if foreign(y) else miss(y, x)

    return forward, backward


def _converted(miss: Callable[[Any, Any], Any], operand: Any, *both: Any) -> Any:
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
            return _converted(miss, y, x, y)
        found = own_operator(x, y, own)
        if found is not NotImplemented:
            return found
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
    if y.__class__ is int and x.aval.__class__ is ShapedArray:
        return arithmetic.integer_power(x, y)
    return _power(x, y)


def _mod_pow(x: Any, y: Any, modulus: Any = None, /) -> Any:
    return NotImplemented if modulus is not None else _pow(x, y)


_power, _rpow = _operator(arithmetic.POWER, "pow")


def _rpow_plain(x: Any, y: Any, modulus: Any = None, /) -> Any:
    return NotImplemented if modulus is not None else _rpow(x, y)


def _matmul(x: Any, y: Any) -> Any:
    try:
        plan = MATMUL.plans.get((x.aval, getattr(y, "aval", None)))
        if plan is not None:
            return plan(x, y)
    except TypeError:
        return _converted(MATMUL.miss, y, x, y)
    found = own_operator(x, y, "__matmul__")
    if found is not NotImplemented:
        return found
    return NotImplemented if foreign(y) else MATMUL.miss(x, y)


def _rmatmul(x: Any, y: Any) -> Any:
    found = own_operator(x, y, "__rmatmul__")
    if found is not NotImplemented:
        return found
    return NotImplemented if foreign(y) else MATMUL.miss(y, x)


def _divmod(x: Any, y: Any) -> Any:
    found = own_operator(x, y, "__divmod__")
    if found is not NotImplemented:
        return found
    return NotImplemented if foreign(y) else arithmetic.divmod(x, y)


def _rdivmod(x: Any, y: Any) -> Any:
    found = own_operator(x, y, "__rdivmod__")
    if found is not NotImplemented:
        return found
    return NotImplemented if foreign(y) else arithmetic.divmod(y, x)


def _round(x: Any, ndigits: int | None = None) -> Any:
    from .ufuncs.rounding import round

    rounded = round(x, ndigits or 0)
    if ndigits is None and x.dtype.kind not in "biu":  # round(x) of Python numbers is an integer
        from .promotion import default_int

        return lax.convert_element_type(rounded, default_int())
    return rounded


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
    from .reductions.basic import any as any_of

    return bool(any_of(comparisons.EQUAL(x, item)))


def _getitem(x: Any, index: Any) -> Any:
    return getitem(x, index)


def _setitem(x: Any, index: Any, value: Any) -> NoReturn:
    raise TypeError(
        f"arrays are immutable, so that x[index] = value does not work{here()}. Use the copy that "
        "x = x.at[index].set(value) returns."
    )


_PAIRS = {
    "add": arithmetic.ADD, "sub": arithmetic.SUBTRACT, "mul": arithmetic.MULTIPLY,
    "truediv": arithmetic.DIVIDE, "floordiv": arithmetic.FLOOR_DIVIDE,
    "mod": arithmetic.REMAINDER, "and": comparisons.AND, "or": comparisons.OR,
    "xor": comparisons.XOR, "lshift": bits.LEFT_SHIFT, "rshift": bits.RIGHT_SHIFT,
}  # fmt: skip
_COMPARISONS = {
    "eq": (comparisons.EQUAL, "=="), "ne": (comparisons.NOT_EQUAL, "!="),
    "lt": (comparisons.LESS, "<"), "le": (comparisons.LESS_EQUAL, "<="),
    "gt": (comparisons.GREATER, ">"), "ge": (comparisons.GREATER_EQUAL, ">="),
}  # fmt: skip


def operators() -> dict[str, Any]:
    """Methods with two underscores, by name."""
    out: dict[str, Any] = {
        "__pow__": _mod_pow, "__rpow__": _rpow_plain, "__matmul__": _matmul,
        "__rmatmul__": _rmatmul, "__divmod__": _divmod, "__rdivmod__": _rdivmod,
        "__round__": _round, "__len__": _len, "__iter__": _iter, "__reversed__": _reversed,
        "__contains__": _contains, "__getitem__": _getitem, "__setitem__": _setitem,
        "__neg__": lambda x: unary.NEGATIVE(x), "__pos__": lambda x: unary.POSITIVE(x),
        "__abs__": lambda x: unary.ABS(x), "__invert__": lambda x: unary.INVERT(x),
    }  # fmt: skip
    for name, engine in _PAIRS.items():
        out[f"__{name}__"], out[f"__r{name}__"] = _operator(engine, name)
    for name, (engine, symbol) in _COMPARISONS.items():
        out[f"__{name}__"] = _comparison(engine, symbol, name)
    for name, method in out.items():
        method.__name__ = name
    return out
