"""The type rule that elementwise primitives share: equal element types, equal shapes or scalars."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from dovetail_core import ExtendedDType, Primitive, ShapedArray, here

from ..dtypes import kind_of
from ..errors import ShapeError

Kinds = tuple[str, ...]
"""Kinds of element types (see ``dovetail_lax.dtypes.kind_of``) that an operand may have."""

BOOL: Kinds = ("bool",)
INTEGER: Kinds = ("signed", "unsigned")
BITS: Kinds = ("bool", *INTEGER)
FLOATING: Kinds = ("floating",)
COMPLEX: Kinds = ("complex",)
INEXACT: Kinds = ("floating", "complex")
REAL: Kinds = (*INTEGER, "floating")
ORDERED: Kinds = ("bool", *REAL)
NUMBER: Kinds = (*INTEGER, *INEXACT)
ANY: Kinds = ("bool", *NUMBER)

_WORDS = {
    "bool": "booleans",
    "signed": "signed integers",
    "unsigned": "unsigned integers",
    "floating": "floating-point numbers",
    "complex": "complex numbers",
    "extended": "keys and the like",
}


class ShapeMismatch(ShapeError):
    """Operands of an elementwise operation have unequal shapes, none of them scalar."""


def elementwise(
    primitive: Primitive,
    accepts: Kinds,
    *,
    result: Callable[[Any], Any] | None = None,
    label: str = "",
) -> Primitive:
    """Give ``primitive`` the type rule of an elementwise operation.

    Args:
        accepts: kinds of element types that operands may have.
        result: the result's element type from the operands'; the same if None.
        label: the public function's name in messages, where it is not the primitive's.
    """
    label = label or primitive.name

    def rule(*avals: ShapedArray, **params: Any) -> ShapedArray:
        first = avals[0]
        for aval in avals:
            if kind_of(aval.dtype) not in accepts:
                reject(label, aval, accepts)
        for aval in avals:
            if aval.dtype != first.dtype:
                mismatch(label, avals)
        dtype = first.dtype if result is None else result(first.dtype)
        weak = all(a.weak_type for a in avals)
        return ShapedArray(common_shape(label, avals), dtype, weak)

    primitive.def_abstract_eval(rule)
    return primitive


def of_numbers(primitive: Primitive) -> Primitive:
    """Make the type rule of ``primitive`` refuse operands of extended dtypes, too."""
    inner = primitive.abstract_eval
    assert inner is not None

    def rule(*avals: ShapedArray, **params: Any) -> Any:
        for aval in avals:
            if aval.is_high:
                reject(primitive.name, aval, ANY)
        return inner(*avals, **params)

    primitive.def_abstract_eval(rule)
    return primitive


def common_shape(label: str, avals: Sequence[ShapedArray]) -> tuple[int, ...]:
    """The shape of operands that are equally shaped or scalar.

    Raises:
        ShapeMismatch: two of them have different shapes, neither of them scalar.
    """
    shape: tuple[int, ...] = ()
    for aval in avals:
        if aval.shape and aval.shape != shape:
            if shape:
                shapes = ", ".join(str(a.shape) for a in avals)
                raise ShapeMismatch(
                    f"lax.{label} takes operands of equal shapes, or scalars; got shapes {shapes}"
                    f"{here()}. Reshape or broadcast them first, or use the function of "
                    "dovetail.numpy, which broadcasts."
                )
            shape = aval.shape
    return shape


def reject(label: str, aval: ShapedArray, accepts: Kinds) -> NoReturn:
    """Raise the error for an operand of a wrong kind."""
    words = [_WORDS[k] for k in accepts]
    kinds = " and ".join([", ".join(words[:-1]), words[-1]] if words[1:] else words)
    dtype: Any = aval.dtype
    remedy = "Convert it first, with lax.convert_element_type(x, dtype) or x.astype(dtype)."
    if isinstance(dtype, ExtendedDType):
        remedy = dtype.remedy
    raise TypeError(
        f"lax.{label} does not accept an operand of dtype {dtype} ({aval.str_short()}){here()}: "
        f"it takes {kinds}. {remedy}"
    )


def mismatch(label: str, avals: Sequence[ShapedArray]) -> NoReturn:
    """Raise the error for operands of different element types."""
    types = " and ".join(a.str_short() for a in avals)
    raise TypeError(
        f"lax.{label} takes operands of one dtype, got {types}{here()}. Convert one of them, with "
        "lax.convert_element_type(x, dtype) or x.astype(dtype), or use the function of "
        "dovetail.numpy, which promotes."
    )
