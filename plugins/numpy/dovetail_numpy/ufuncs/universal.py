"""The functions that are ``ufunc`` objects: they also reduce, accumulate and update at indices."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import dovetail_lax as lax

from ..creation.arrays import as_array
from ..operands import ArrayLike, has_array_conversion
from ..operations import filled, select, truth
from ..promotion import broadcast
from .arithmetic import ADD, MAXIMUM, MINIMUM, MULTIPLY, SUBTRACT
from .comparisons import AND, LOGICAL_AND, LOGICAL_OR, LOGICAL_XOR, OR, XOR
from .plans import Binary
from .special import LOGADDEXP, LOGADDEXP2
from .ufunc import ufunc
from .unary import NEGATIVE


class _Public(ufunc):
    """A ufunc that is pickled by its name."""

    def __reduce__(self) -> str:
        return self.__name__


class _BinaryUfunc(_Public):
    """A ufunc that an engine of plans computes."""

    def __init__(self, engine: Binary, doc: str, identity: Any = None, **methods: Any) -> None:
        super().__init__(engine.__call__, 2, 1, name=engine.name, identity=identity, **methods)
        self._plans, self._miss = engine.plans, engine.miss
        self.__doc__ = doc

    def __call__(self, *args: ArrayLike, out: None = None, where: None = None) -> Any:
        if len(args) == 2 and out is None and where is None:
            x, y = args
            plan = self._plans.get(
                (getattr(x, "aval", x.__class__), getattr(y, "aval", y.__class__))
            )
            try:
                return self._miss(x, y) if plan is None else plan(x, y)
            except TypeError:
                if not (has_array_conversion(x) or has_array_conversion(y)):
                    raise
                return self._miss(x, y)
        return super().__call__(*args, out=out, where=where)


def _reduction(module: str, name: str) -> Any:
    """A function of ``dovetail_numpy.reductions``, which is imported when it is first called."""

    def reduce(a: ArrayLike, **options: Any) -> Any:
        return getattr(import_module(f"dovetail_numpy.reductions.{module}"), name)(a, **options)

    return reduce


def _bits_reduction(kind: str, identity: Any) -> Any:
    def reduce(
        a: ArrayLike, axis: Any = 0, keepdims: bool = False, dtype: Any = None, where: Any = None
    ) -> Any:
        from ..reductions.engine import keep_dims, reduced_axes

        x = as_array(f"bitwise_{kind}.reduce", a)
        x = x if dtype is None else lax.convert_element_type(x, dtype)
        if where is not None:
            mask = broadcast(truth(as_array(f"bitwise_{kind}.reduce", where, 1)), x.shape)
            x = select(mask, x, filled(x, x.shape, identity))
        axes = reduced_axes("reduce", axis, x.ndim)
        out = getattr(lax, f"reduce_{kind}")(x, axes) if axes else x
        return keep_dims(out, x.shape, axes) if keepdims else out

    return reduce


def _of_truth(reduce: Any) -> Any:
    """A reduction of the truth values of elements."""

    def reduced(a: ArrayLike, dtype: Any = None, **options: Any) -> Any:
        out = reduce(truth(as_array("reduce", a)), **options)
        return out if dtype is None else lax.convert_element_type(out, dtype)

    return reduced


def _with_initial(combine: Any, reduce: Any) -> Any:
    """A reduction whose result is combined with ``initial`` by ``combine``, if it is given."""

    def reduced(a: ArrayLike, initial: Any = None, **options: Any) -> Any:
        out = reduce(a, **options)
        return out if initial is None else combine(as_array("reduce", initial, 1), out)

    return reduced


def _extremes(combine: Any, of_numbers: str) -> Any:
    def accumulate(a: Any, axis: int) -> Any:
        if a.dtype.kind == "b":
            return lax.associative_scan(combine, a, axis=axis)
        return getattr(lax, of_numbers)(a, axis=axis)

    return accumulate


def _subtract_at(a: Any, indices: Any, b: Any) -> Any:
    return a.at[indices].subtract(b)


add = _BinaryUfunc(
    ADD, "``x1 + x2``; of booleans, or.", 0, reduce=_reduction("basic", "sum"),
    accumulate=_reduction("cumulative", "cumsum"), associative=True,
    at=lambda a, i, b: a.at[i].add(b),
)  # fmt: skip
subtract = _BinaryUfunc(SUBTRACT, "``x1 - x2``; not for booleans.", at=_subtract_at)
multiply = _BinaryUfunc(
    MULTIPLY, "``x1 * x2``; of booleans, and.", 1, reduce=_reduction("basic", "prod"),
    accumulate=_reduction("cumulative", "cumprod"), associative=True,
    at=lambda a, i, b: a.at[i].multiply(b),
)  # fmt: skip
maximum = _BinaryUfunc(
    MAXIMUM, "The greater of two elements; NaN if either is.", reduce=_reduction("basic", "max"),
    accumulate=_extremes(MAXIMUM, "cummax"), associative=True,
    at=lambda a, i, b: a.at[i].max(b),
)  # fmt: skip
minimum = _BinaryUfunc(
    MINIMUM, "The lesser of two elements; NaN if either is.", reduce=_reduction("basic", "min"),
    accumulate=_extremes(MINIMUM, "cummin"), associative=True,
    at=lambda a, i, b: a.at[i].min(b),
)  # fmt: skip
bitwise_and = _BinaryUfunc(
    AND, "Bitwise and of integers or booleans.", -1,
    reduce=_with_initial(AND, _bits_reduction("and", -1)), associative=True,
)  # fmt: skip
bitwise_or = _BinaryUfunc(
    OR, "Bitwise or of integers or booleans.", 0,
    reduce=_with_initial(OR, _bits_reduction("or", 0)), associative=True,
)  # fmt: skip
bitwise_xor = _BinaryUfunc(
    XOR, "Bitwise exclusive or of integers or booleans.", 0,
    reduce=_with_initial(XOR, _bits_reduction("xor", 0)), associative=True,
)  # fmt: skip
logical_and = _BinaryUfunc(
    LOGICAL_AND, "True where both elements are not zero.", True,
    reduce=_with_initial(LOGICAL_AND, _of_truth(_reduction("basic", "all"))), associative=True,
)  # fmt: skip
logical_or = _BinaryUfunc(
    LOGICAL_OR, "True where either element is not zero.", False,
    reduce=_with_initial(LOGICAL_OR, _of_truth(_reduction("basic", "any"))), associative=True,
)  # fmt: skip
logical_xor = _BinaryUfunc(
    LOGICAL_XOR, "True where exactly one of two elements is not zero.", False,
    reduce=_with_initial(LOGICAL_XOR, _of_truth(_bits_reduction("xor", False))), associative=True,
)  # fmt: skip
logaddexp = _BinaryUfunc(
    LOGADDEXP, "``log(exp(x1) + exp(x2))`` without overflow.", float("-inf"), associative=True
)
logaddexp2 = _BinaryUfunc(
    LOGADDEXP2, "``log2(2**x1 + 2**x2)`` without overflow.", float("-inf"), associative=True
)


class _Negative(_Public):
    def __call__(self, *args: ArrayLike, out: None = None, where: None = None) -> Any:
        if len(args) == 1 and out is None and where is None:
            return NEGATIVE(args[0])
        return super().__call__(*args, out=out, where=where)


negative = _Negative(NEGATIVE.__call__, 1, 1, name="negative")
negative.__doc__ = "``-x`` of each element; unsigned integers wrap around."
