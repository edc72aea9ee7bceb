"""Choosers: which primitive or function computes an elementwise function for an element type."""

from __future__ import annotations

from typing import Any

from dovetail_core import ExtendedDType, Primitive
from dovetail_lax import dtypes

from ..creation.arrays import as_array
from ..operands import DTypeError, here
from .plans import Chooser, Op

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
