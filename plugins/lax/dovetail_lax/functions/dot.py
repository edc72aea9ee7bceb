"""Public functions of tensor contraction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_core import Cache, type_shardings

from ..dtypes import as_dtype
from ..primitives._elementwise import place
from ..primitives.contractions import DotDimensionNumbers, dot_general_p
from ._args import Array, ArrayLike, binary, check
from .precision import PrecisionLike, canonical_precision, default_precision

_plain: Cache[Any, dict[str, Any]] = Cache()
"""Parameters of contractions without further options, by dimension numbers as they were given."""


def dot_general(
    lhs: ArrayLike,
    rhs: ArrayLike,
    dimension_numbers: DotDimensionNumbers,
    precision: PrecisionLike = None,
    preferred_element_type: Any = None,
    *,
    out_sharding: Any = None,
) -> Array:
    """Contract axes of two arrays: the sum of products over them.

    The result's axes are the batch axes, those left of ``lhs``, and those left of ``rhs``.

    Args:
        dimension_numbers: ``((lhs_contracting, rhs_contracting), (lhs_batch, rhs_batch))``, axes
            counted from 0; pairs must have equal sizes.
        precision: how exactly accelerators multiply 32-bit floats (a ``Precision``, a name such as
            ``"highest"``, or a pair of them for the two operands), or by which algorithm (a
            ``DotAlgorithmPreset`` or its name, or a ``DotAlgorithm``); by default what the option
            ``default_matmul_precision`` says.
        preferred_element_type: the type to accumulate in and return; by default the operands'
            common type.

    Raises:
        TypeError: axes do not fit the operands or each other; names the types and axes.
    """
    if out_sharding is not None:
        return type_shardings.with_out_sharding(
            out_sharding,
            dot_general,
            lhs,
            rhs,
            dimension_numbers,
            precision,
            preferred_element_type,
        )
    if precision is None and preferred_element_type is None and default_precision.value is None:
        try:
            params = _plain[dimension_numbers]
        except (KeyError, TypeError):
            params = _params(dimension_numbers, None, None)
            _plain[params["dimension_numbers"]] = params
    else:
        params = _params(dimension_numbers, precision, preferred_element_type)
    return binary(dot_general_p, lhs, rhs, params)


def _params(dimension_numbers: Any, precision: Any, preferred: Any) -> dict[str, Any]:
    try:
        (cl, cr), (bl, br) = dimension_numbers
        dims = ((_axes(cl), _axes(cr)), (_axes(bl), _axes(br)))
    except (TypeError, ValueError):
        raise TypeError(
            f"lax.dot_general got dimension_numbers {dimension_numbers!r}{place()}: they are "
            "((lhs_contracting, rhs_contracting), (lhs_batch, rhs_batch)), each a sequence of axes."
        ) from None
    return {
        "dimension_numbers": dims,
        "precision": canonical_precision(precision),
        "preferred_element_type": None if preferred is None else as_dtype(preferred),
    }


def _axes(axes: Sequence[Any]) -> tuple[int, ...]:
    return tuple([a.__index__() for a in axes])


_MATRIX: DotDimensionNumbers = (((1,), (0,)), ((), ()))
_VECTOR: DotDimensionNumbers = (((0,), (0,)), ((), ()))


def dot(
    lhs: ArrayLike,
    rhs: ArrayLike,
    *,
    dimension_numbers: DotDimensionNumbers | None = None,
    precision: PrecisionLike = None,
    preferred_element_type: Any = None,
    out_sharding: Any = None,
) -> Array:
    """Products of vectors and matrices: the last axis of ``lhs`` with the first of ``rhs``.

    With ``dimension_numbers`` it is :func:`dot_general`.

    Raises:
        ValueError: without ``dimension_numbers``, an operand is not a vector or matrix, or sizes
            do not match.
    """
    if dimension_numbers is None:
        a, b = check("dot", lhs), check("dot", rhs)
        n = len(a.shape)
        if n not in (1, 2) or len(b.shape) not in (1, 2) or a.shape[-1] != b.shape[0]:
            raise ValueError(
                f"lax.dot got {a.str_short()} and {b.str_short()}{place()}: without "
                "dimension_numbers it takes vectors and matrices of which the last axis of the "
                "first has the size of the first axis of the second."
            )
        dimension_numbers = _MATRIX if n == 2 else _VECTOR
    return dot_general(
        lhs, rhs, dimension_numbers, precision, preferred_element_type, out_sharding=out_sharding
    )


def batch_matmul(lhs: ArrayLike, rhs: ArrayLike, precision: PrecisionLike = None) -> Array:
    """Products of matrices in the last two axes; all axes before are batch axes.

    Raises:
        ValueError: the operands have different numbers of axes, or fewer than two.
    """
    a, b = check("batch_matmul", lhs), check("batch_matmul", rhs)
    n = len(a.shape)
    if n < 2 or len(b.shape) != n:
        raise ValueError(
            f"lax.batch_matmul got {a.str_short()} and {b.str_short()}{place()}: it takes arrays "
            "of one number of axes, at least two."
        )
    batch = tuple(range(n - 2))
    return dot_general(lhs, rhs, (((n - 1,), (n - 2,)), (batch, batch)), precision)
