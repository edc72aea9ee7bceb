"""Elementwise functions by plans: the steps for one pair of operand types are computed once.

A plan is a callable of the operands. For operands of one type it is the primitive's ``bind``
itself, so that the usual call reaches the trace through two dictionary lookups. A chooser says
which primitive or function computes an elementwise function for an element type.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from dovetail_core import Cache, ExtendedDType, Primitive, ShapedArray, here, is_inexact, typeof
from dovetail_lax import dtypes, scalars

from ..creation.arrays import as_array
from ..fusion import fused, fused_when_evaluated, of_one_array, of_two_arrays
from ..operands import PYTHON_SCALARS, ArrayLike, DTypeError, has_array_conversion, operand
from ..promotion import (
    FLOAT32,
    broadcast,
    broadcast_shapes,
    common_type,
    convert,
    inexact_dtype,
    is_strict,
    is_weak_bool,
    mixes_ranks,
    python_scalar,
    ranks_allowed,
    x64,
)

Op = Callable[..., Any]
Chooser = Callable[[str, Any], Op]
"""``(name, dtype) -> operation on operands of that dtype``; raises TypeError for other dtypes."""


def _plan_key(v: Any) -> Any:
    return v.__class__ if v.__class__ in PYTHON_SCALARS else typeof(v)


def _is_option_independent(x: Any, y: Any) -> bool:
    """True if the common type and shape of two operands are the same for all options."""
    a, b = cast(ShapedArray, typeof(x)), cast(ShapedArray, typeof(y))
    if mixes_ranks((a.shape, b.shape)):
        return False
    arrays = [t for t, v in ((a, x), (b, y)) if v.__class__ not in PYTHON_SCALARS]
    if not arrays or any(t.weak_type for t in arrays):
        return False
    first = arrays[0].dtype
    if len(arrays) == 2:
        return a.dtype == b.dtype
    if (first.itemsize >= 8 and first.kind in "iuf") or first.itemsize == 16:
        return False  # narrowed where 64-bit types are not enabled
    other = b if arrays[0] is a else a
    return "biufc".find(other.dtype.kind) <= "biufc".find(first.kind) and first.kind in "biufc"


def by_configuration(build: Callable[..., Op]) -> Op:
    """A plan that makes one by ``build`` for each value of the options that promotion depends on.

    These are the width of Python numbers, and whether element types and ranks may be mixed.
    """
    plans: dict[Any, Op] = {}

    def _chosen(*operands: Any) -> Any:
        ranks = ranks_allowed()
        key = (x64.value, is_strict(), ranks)
        plan = plans.get(key)
        if plan is None or ranks == "warn":
            plan = plans[key] = build(*operands)
        return plan(*operands)

    return _chosen


def is_bind(op: Op) -> bool:
    """True if an operation is a primitive's ``bind``, which takes Python scalars as they are."""
    return isinstance(getattr(op, "__self__", None), Primitive)


class Binary:
    """A function of two operands with type promotion and broadcasting."""

    __slots__ = ("name", "choose", "inexact", "plans")

    def __init__(self, name: str, choose: Chooser, inexact: bool = False) -> None:
        self.name = name
        self.choose = choose
        self.inexact = inexact
        self.plans: Cache[tuple[Any, Any], Op] = Cache()

    def __call__(self, x: ArrayLike, y: ArrayLike) -> Any:
        plan = self.plans.get((getattr(x, "aval", x.__class__), getattr(y, "aval", y.__class__)))
        try:
            return self.miss(x, y) if plan is None else plan(x, y)
        except TypeError:
            if not (has_array_conversion(x) or has_array_conversion(y)):
                raise
            return self.miss(x, y)

    def miss(self, x: ArrayLike, y: ArrayLike) -> Any:
        """The result for operands whose types were not seen before, or are NumPy's."""
        vx, vy = operand(self.name, x, 0), operand(self.name, y, 1)
        types = _plan_key(vx), _plan_key(vy)
        plan = self.plans.get(types)
        if plan is None:
            independent = _is_option_independent(vx, vy)
            plan = self.plan(vx, vy) if independent else by_configuration(self.plan)
            self.plans[types] = plan
        return plan(vx, vy)

    def result_type(self, avals: list[Any]) -> tuple[Any, bool]:
        """The element type that operands are converted to, and whether it is weak."""
        return common_type(avals, self.inexact)

    def plan(self, x: Any, y: Any) -> Op:
        """The plan for operands of the types of ``x`` and ``y``."""
        avals: list[Any] = [typeof(x), typeof(y)]
        _arrays_only(self.name, avals)
        dtype, weak = self.result_type(avals)
        op = self.choose(self.name, dtype)
        shape = broadcast_shapes(self.name, avals[0].shape, avals[1].shape)
        host = [_scalar_step(v, dtype, weak) for v in (x, y)]
        device = [None if h else _array_step(a, dtype, weak, shape) for h, a in zip(host, avals)]
        host = [None if h is _unchanged else h for h in host]
        plan = _after_steps(op, *device)
        if plan is not op:
            plan = fused_when_evaluated(plan)
        return _after_steps(plan, *host)


class WeakIfAll(Binary):
    """A function whose results are of weak type only if all operands are."""

    __slots__ = ()

    def result_type(self, avals: list[Any]) -> tuple[Any, bool]:
        dtype, weak = common_type(avals, self.inexact)
        return dtype, weak and all(a.weak_type for a in avals)


def _arrays_only(name: str, avals: list[Any]) -> None:
    for i, a in enumerate(avals):
        if a.__class__ is not ShapedArray:
            raise TypeError(
                f"{name} requires arrays, got a value of type {a.str_short()} at position "
                f"{i}{here()}"
            )


def _unchanged(v: Any) -> Any:
    return v


def _check_int(v: int) -> int:
    if not -0x80000000 <= v < 0x80000000:
        scalars.check_int(v)
    return v


def _scalar_step(x: Any, dtype: Any, weak: bool) -> Op | None:
    """The function that makes a Python scalar an operand; None for arrays."""
    cls = x.__class__
    if cls not in PYTHON_SCALARS:
        return None
    if weak and typeof(x).dtype.kind == dtype.kind:  # type: ignore[attr-defined]
        return _check_int if cls is int else _unchanged
    if cls is float and dtype == FLOAT32 and not weak:
        return _float32_scalar
    return lambda v: python_scalar(v, dtype, weak)


def _float32_scalar(v: float) -> Any:
    return FLOAT32.type(v) if x64.value else v


def _array_step(aval: ShapedArray, dtype: Any, weak: bool, shape: tuple[int, ...]) -> Op | None:
    """The function that makes an array an operand; None if it is one already."""
    moves = aval.shape not in ((), shape)
    if aval.dtype == dtype and not is_weak_bool(aval):
        return (lambda v: broadcast(v, shape)) if moves else None
    if not moves:
        return lambda v: convert(v, dtype, weak)
    return lambda v: broadcast(convert(v, dtype, weak), shape)


def _after_steps(op: Op, first: Op | None, second: Op | None) -> Op:
    """``op`` of operands to which the steps were applied; ``op`` itself without steps."""
    if first is None and second is None:
        return op
    if second is None:
        return lambda x, y: op(first(x), y)  # type: ignore[misc]
    if first is None:
        return lambda x, y: op(x, second(y))
    return lambda x, y: op(first(x), second(y))


class Unary:
    """A function of one operand; with ``inexact``, integers become floating-point first."""

    __slots__ = ("name", "choose", "inexact", "plans")

    def __init__(self, name: str, choose: Chooser, inexact: bool = False) -> None:
        self.name = name
        self.choose = choose
        self.inexact = inexact
        self.plans: Cache[Any, Op] = Cache()

    def __call__(self, x: ArrayLike) -> Any:
        plan = self.plans.get(getattr(x, "aval", x.__class__))
        try:
            return self.miss(x) if plan is None else plan(x)
        except TypeError:
            if not has_array_conversion(x):
                raise
            return self.miss(x)

    def miss(self, x: ArrayLike) -> Any:
        """The result for an operand whose type was not seen before, or is NumPy's."""
        v = operand(self.name, x)
        if v.__class__ in PYTHON_SCALARS:
            return self._scalar(v)
        aval: Any = typeof(v)
        plan = self.plans.get(aval)
        if plan is None:
            plan = self.plans[aval] = self.plan(aval)
        return plan(v)

    def _scalar(self, v: Any) -> Any:
        aval: Any = typeof(v)
        dtype = inexact_dtype(aval.dtype) if self.inexact else aval.dtype
        op = self.choose(self.name, dtype)
        x = python_scalar(v, dtype, True) if aval.weak_type else dtype.type(v)
        return op(x) if is_bind(op) else op(as_array(self.name, x))

    def plan(self, aval: ShapedArray) -> Op:
        """The plan for an operand of type ``aval``."""
        _arrays_only(self.name, [aval])
        if not self.inexact or is_inexact(aval.dtype):
            return self.choose(self.name, aval.dtype)
        dtype, weak = inexact_dtype(aval.dtype), aval.weak_type and not is_weak_bool(aval)
        op = self.choose(self.name, dtype)
        return fused()(lambda x: op(convert(x, dtype, weak)))


def unary_function(engine: Unary, doc: str) -> Callable[[ArrayLike], Any]:
    """The public function of one operand that ``engine`` computes."""
    plans, miss = engine.plans, engine.miss

    def function(x: ArrayLike, /) -> Any:
        plan = plans.get(getattr(x, "aval", x.__class__))
        try:
            return miss(x) if plan is None else plan(x)
        except TypeError:
            if not has_array_conversion(x):
                raise
            return miss(x)

    return of_one_array()(named(function, engine.name, doc))


def binary_function(engine: Binary, doc: str) -> Callable[[ArrayLike, ArrayLike], Any]:
    """The public function of two operands that ``engine`` computes."""
    plans, miss = engine.plans, engine.miss

    def function(x1: ArrayLike, x2: ArrayLike, /) -> Any:
        plan = plans.get((getattr(x1, "aval", x1.__class__), getattr(x2, "aval", x2.__class__)))
        try:
            return miss(x1, x2) if plan is None else plan(x1, x2)
        except TypeError:
            if not (has_array_conversion(x1) or has_array_conversion(x2)):
                raise
            return miss(x1, x2)

    return of_two_arrays(named(function, engine.name, doc))


def named(function: Any, name: str, doc: str) -> Any:
    """``function`` with the name and docstring of a public function."""
    function.__name__ = function.__qualname__ = name
    function.__module__ = "dovetail.numpy"
    function.__doc__ = doc
    return function


ALL = ("bool", "signed", "unsigned", "floating", "complex")
ANYTHING = (*ALL, "extended")
NUMBERS = ALL[1:]
REALS = ALL[:4]
INTEGERS = ("signed", "unsigned")
BITS = ("bool", *INTEGERS)
FLOATS = ("floating",)
INEXACT = ("floating", "complex")


def accept(name: str, dtype: Any, kinds: tuple[str, ...]) -> str:
    """The kind of ``dtype``.

    Raises:
        DTypeError: it is none of ``kinds``; names the function, the dtype and what is accepted.
    """
    result = dtypes.kind_of(dtype)
    if result not in kinds:
        words = {"signed": "signed integers", "unsigned": "unsigned integers", "bool": "booleans",
                 "floating": "floating-point numbers", "complex": "complex numbers",
                 "extended": "keys and the like"}  # fmt: skip
        remedy = "Convert the argument with astype."
        if isinstance(dtype, ExtendedDType):
            remedy = dtype.remedy
        raise DTypeError(
            f"{name} does not accept dtype {dtype}{here()}; it accepts "
            f"{', '.join(words[k] for k in kinds)}. {remedy}"
        )
    return result


def always(op: Primitive | Op, kinds: tuple[str, ...] = ALL) -> Chooser:
    """One operation for all accepted kinds of elements."""
    bind: Op = op.bind if isinstance(op, Primitive) else op

    def choose(name: str, dtype: Any) -> Op:
        accept(name, dtype, kinds)
        return bind

    return choose


def by_kind(**ops: Primitive | Op) -> Chooser:
    """An operation per kind of elements; kinds that are not named are refused."""
    binds: dict[str, Op] = {k: o.bind if isinstance(o, Primitive) else o for k, o in ops.items()}
    kinds = tuple(binds)
    return lambda name, dtype: binds[accept(name, dtype, kinds)]


def identity(x: Any) -> Any:
    """The operand itself, as an array."""
    return as_array("positive", x)


def for_kinds(kinds: tuple[str, ...], op: Primitive | Op) -> dict[str, Primitive | Op]:
    """The same operation for several kinds, as keyword arguments of :func:`by_kind`."""
    return dict.fromkeys(kinds, op)
