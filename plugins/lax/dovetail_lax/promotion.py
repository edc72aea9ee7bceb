"""JAX's type promotion: the element type that operands of several types have in common.

The promotion lattice has as nodes the element types and three weak ones, ``i*``, ``f*`` and ``c*``,
for Python's int, float and complex. The common type of some nodes is their least upper bound; where
there are several minimal bounds, or none, there is no implicit promotion. (An unsigned 64-bit
integer and a signed integer meet in ``f*``, the weak float: that is why no promotion of integers
makes a 64-bit float of a 32-bit one.)
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, cast

import numpy as np

from dovetail_base.arguments import array_of
from dovetail_base.source import called
from dovetail_core import (
    ExtendedDType,
    Option,
    ShapedArray,
    cached,
    canonical_dtype,
    config,
    dtype_named,
    enable_x64,
    typeof,
)

from .element_types import (
    BFLOAT16,
    FP4,
    FP8,
    SMALL_INTS,
    WEAK,
    dtype_of,
    explicit_x64_dtypes,
    warn_truncated,
)

Node = Any
"""A ``numpy.dtype``, or one of the names of weak nodes."""

_WEAK_OF_KIND = {"i": "i*", "u": "i*", "f": "f*", "c": "c*"}


def _dtypes(names: str) -> list[Node]:
    return [n if n in WEAK else np.dtype(n) for n in names.split()]


def _standard_edges() -> dict[Node, list[Node]]:
    chains = [
        "bool i* uint8 uint16 uint32 uint64 f* float16 float32 float64 complex128",
        "i* int8 int16 int32 int64 f* c* complex64 complex128",
        "uint8 int16", "uint16 int32", "uint32 int64", "float32 complex64",
    ]  # fmt: skip
    edges: dict[Node, list[Node]] = {}
    for chain in map(_dtypes, chains):
        for a, b in pairwise(chain):
            edges.setdefault(a, []).append(b)
    edges["i*"] += SMALL_INTS
    edges["f*"] += [BFLOAT16, *FP8, *FP4]
    edges[BFLOAT16] = [np.dtype(np.float32)]
    return edges


def _strict_edges() -> dict[Node, list[Node]]:
    """Only Python scalars adapt: to any type of their kind or a later one, never the other way."""
    ints = _dtypes("int8 int16 int32 int64 uint8 uint16 uint32 uint64")
    floats = [BFLOAT16, *FP8, *FP4, *_dtypes("float16 float32 float64")]
    return {
        "i*": [*ints, *SMALL_INTS, "f*"],
        "f*": [*floats, "c*"],
        "c*": _dtypes("complex64 complex128"),
    }


@cached
def _upper_bounds(strict: bool) -> dict[Node, frozenset[Node]]:
    """Each node's upper bounds, itself included."""
    edges = _strict_edges() if strict else _standard_edges()
    nodes: set[Node] = {*edges, *(b for bs in edges.values() for b in bs), np.dtype(np.bool_)}

    @cached
    def above(node: Node) -> frozenset[Node]:
        return frozenset({node}).union(*map(above, edges.get(node, ())))

    return {n: above(n) for n in nodes}


@cached
def join(nodes: frozenset[Node], strict: bool) -> Node | None:
    """The least upper bound of ``nodes``, or None."""
    bounds = _upper_bounds(strict)
    common = frozenset.intersection(*(bounds[n] for n in nodes))
    least = [n for n in common if bounds[n] == common]
    return least[0] if least else None


def node(dtype: np.dtype[Any], weak: bool) -> Node:
    """The lattice's node for an element type, weak or not.

    Raises:
        KeyError: arrays cannot have this element type.
    """
    if dtype not in _upper_bounds(False):
        raise KeyError(dtype)
    return _WEAK_OF_KIND.get(dtype.kind, dtype) if weak else dtype


DType = np.dtype[Any]


class TypePromotionError(ValueError):
    """Operands' element types have no common type that both may implicitly become."""


class NoNumberError(TypePromotionError, TypeError):
    """Promotion of an extended dtype, whose elements are no numbers."""


def _check_promotion(value: str) -> str:
    if value not in ("standard", "strict"):
        error = ValueError if isinstance(value, str) else TypeError
        raise error(f"numpy_dtype_promotion is 'standard' or 'strict', not {value!r}")
    return value


numpy_dtype_promotion = config.add(
    Option(
        "numpy_dtype_promotion",
        "standard",
        "Whether arrays of different element types may meet ('standard'), or only an array and a "
        "Python scalar ('strict').",
        check=_check_promotion,
        traced=True,
    )
)
_promotion = numpy_dtype_promotion.state


def result_type(*args: Any, return_weak_type_flag: bool = False) -> Any:
    """The common element type of arrays, scalars and dtypes; with the flag also its weakness.

    Raises:
        TypePromotionError: there is none; names the types and the remedy.
        ValueError: no argument is given.
    """
    if not args:
        raise ValueError("result_type takes at least one array, scalar or dtype")
    result = common_type([_typed(x) for x in args])
    return result if return_weak_type_flag else result[0]


def _typed(x: Any) -> tuple[DType, bool]:
    if x is None:  # NumPy's default
        return dtype_of(np.float64), False
    if isinstance(x, (np.dtype, type, str, ExtendedDType)):
        result = dtype_of(x)
        _warn_if_narrower(x, result)
        return result, _is_weak_class(x)
    try:
        aval = cast(ShapedArray, typeof(x))
    except TypeError:
        converted = array_of(x)
        if converted is not x:
            return _typed(converted)
        own = getattr(x, "dtype", None)
        if not isinstance(own, np.dtype):
            raise
        return dtype_of(own), False  # of what is no array but has its attributes
    return aval.dtype, aval.weak_type


def _warn_if_narrower(x: Any, result: Any) -> None:
    named = isinstance(x, (np.dtype, str)) or (isinstance(x, type) and issubclass(x, np.generic))
    if named and np.dtype(x) != result:
        warn_truncated(np.dtype(x), result)


def _dtype(x: Any) -> Any:
    return x if isinstance(x, ExtendedDType) else dtype_named(x)


def _is_weak_class(x: Any) -> bool:
    return isinstance(x, type) and x in (int, float, complex)


def promote_types(a: Any, b: Any, *, strict: bool = False) -> DType:
    """The common element type of two dtypes; Python's ``int``, ``float``, ``complex`` yield.

    ``strict``: whether these alone do.

    It is not made canonical: ``promote_types(float, int)`` is ``float64`` for any ``enable_x64``.

    Raises:
        TypePromotionError: there is none.
    """
    types = tuple([(_dtype(x), _is_weak_class(x)) for x in (a, b)])
    dtype, _ = _common(types, strict)
    if dtype == np.int64 and not enable_x64.value and all(t != dtype for t, _ in types):
        return np.dtype(np.int32)  # of uint32 and a narrower signed type
    return dtype


def common_type(
    types: Sequence[tuple[Any, bool]], strict: bool | None = None
) -> tuple[DType, bool]:
    """The common type of ``(dtype, weak)`` pairs, and whether it is weak.

    Args:
        strict: whether all strong types must be equal; by default, whether the option
            ``numpy_dtype_promotion`` is ``strict``.

    Raises:
        TypePromotionError: there is none.
    """
    held = tuple([(d, w and d != np.bool_) for d, w in types])  # no boolean yields to another
    dtype, weak = _common(held, _promotion.value == "strict" if strict is None else strict)
    if enable_x64.value or dtype.itemsize < 8 or _keeps_wide(dtype, types):
        return dtype, weak
    return canonical_dtype(dtype), weak


def _keeps_wide(dtype: Any, types: Sequence[tuple[Any, bool]]) -> bool:
    """True if 64-bit values keep their type though 64-bit types are not enabled."""
    return all(d == dtype for d, _ in types) or explicit_x64_dtypes.value == "allow"


@cached
def _common(types: tuple[tuple[Any, bool], ...], strict: bool) -> tuple[DType, bool]:
    first = types[0][0]
    weak = all(w for _, w in types)
    if all(d == first for d, _ in types):
        return first, weak
    # Where all are weak, promote their strong counterparts: a weak int16 stays 16 bits wide.
    given = [(d, w and not (weak and not strict)) for d, w in types]
    try:
        result = join(frozenset(node(d, w) for d, w in given), strict)
    except KeyError as e:
        lone = e.args[0]
        text = f"dtype {lone} takes no part in type promotion{called()}: only numbers and booleans"
        if isinstance(lone, ExtendedDType):
            raise NoNumberError(f"{text} do. {lone.remedy}") from None
        raise TypePromotionError(f"{text} do. Convert explicitly.") from None
    if result is None:
        raise TypePromotionError(_no_promotion([d for d, _ in types], strict))
    if isinstance(result, str):
        return WEAK[result], True
    return result, weak


def _no_promotion(types: list[DType], strict: bool) -> str:
    names = " and ".join(dict.fromkeys(str(t) for t in types))
    why = "there is none"
    if strict:
        why = "numpy_dtype_promotion='strict' allows none between arrays of different types"
    elif any(t in FP8 or t in FP4 for t in types):
        why = "8-bit and 4-bit floats are never promoted implicitly"
    elif any(t in SMALL_INTS for t in types):
        why = "integers of 2 and 4 bits are never promoted implicitly"
    return (
        f"element types {names} have no implicit promotion{called()}: {why}. Convert to the type "
        "that you want first, for example with x.astype('float32')."
    )
