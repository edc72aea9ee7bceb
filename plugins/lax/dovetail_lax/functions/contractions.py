"""Public functions of contractions: dense ones, of groups of rows, and of scaled numbers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from dovetail_core import Cache, ShapedArray, here, type_shardings

from ..dtypes import as_dtype
from ..primitives.arithmetic import mul_p
from ..primitives.contractions import DotDimensionNumbers, dot_general_p
from ..primitives.moves import full, repeated, reshaped
from ..primitives.ragged import RaggedDotDimensionNumbers, ragged_dot_general_p
from ..primitives.values import convert_element_type_p
from .composite import composite
from .operands import Array, ArrayLike, binary, check
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
            f"lax.dot_general got dimension_numbers {dimension_numbers!r}{here()}: they are "
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
                f"lax.dot got {a.str_short()} and {b.str_short()}{here()}: without "
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
            f"lax.batch_matmul got {a.str_short()} and {b.str_short()}{here()}: it takes arrays "
            "of one number of axes, at least two."
        )
    batch = tuple(range(n - 2))
    return dot_general(lhs, rhs, (((n - 1,), (n - 2,)), (batch, batch)), precision)


def ragged_dot(
    lhs: ArrayLike,
    rhs: ArrayLike,
    group_sizes: ArrayLike,
    precision: PrecisionLike = None,
    preferred_element_type: Any = None,
    group_offset: ArrayLike | None = None,
    out_sharding: Any = None,
) -> Array:
    """Rows of ``lhs`` that fall into groups, one after the other, times the matrix of their group.

    Args:
        lhs: of shape ``(rows, k)``.
        rhs: of shape ``(groups, k, n)``.
        group_sizes: integers of shape ``(groups,)``, how many rows each group has; rows after the
            last group give zeros.
        precision, preferred_element_type: as of ``dot``.

    Returns: an array of shape ``(rows, n)``.

    Raises:
        TypeError: shapes do not fit. NotImplementedError: ``group_offset`` is given.
    """
    numbers = RaggedDotDimensionNumbers((((1,), (1,)), ((), ())), (0,), (0,))
    return ragged_dot_general(
        lhs, rhs, group_sizes, numbers, precision, preferred_element_type, group_offset,
        out_sharding,
    )  # fmt: skip


def ragged_dot_general(
    lhs: ArrayLike,
    rhs: ArrayLike,
    group_sizes: ArrayLike,
    ragged_dot_dimension_numbers: RaggedDotDimensionNumbers,
    precision: PrecisionLike = None,
    preferred_element_type: Any = None,
    group_offset: ArrayLike | None = None,
    out_sharding: Any = None,
) -> Array:
    """A contraction in which one axis of ``lhs`` falls into groups, one after the other.

    What it returns depends on what that axis is. Where it is neither summed nor a batch axis,
    ``rhs`` has an axis with an entry for each group, and rows meet that of their group. Where it is
    summed, each group has a sum of its own, along a leading axis of the result. Where it is a batch
    axis, groups make no difference.

    Args:
        group_sizes: integers, of shape ``(groups,)``, or with the axes of ``lhs`` before the ragged
            one in front: batch axes, and then those of its kind.
        ragged_dot_dimension_numbers: see :class:`RaggedDotDimensionNumbers`.
        precision, preferred_element_type: as of ``dot_general``.

    Raises:
        TypeError: axes or shapes do not fit; names them. NotImplementedError: ``group_offset`` is
            given.
    """
    if out_sharding is not None:
        return type_shardings.with_out_sharding(
            out_sharding,
            ragged_dot_general,
            lhs,
            rhs,
            group_sizes,
            ragged_dot_dimension_numbers,
            precision,
            preferred_element_type,
            group_offset,
        )
    if group_offset is not None:
        raise NotImplementedError(
            f"ragged_dot: group_offset is not offered{here()}. Take the groups that are wanted "
            "before the call: rhs[offset:] and the rows of their groups."
        )
    operands = (lhs, rhs, group_sizes)
    for x in operands:
        check("ragged_dot_general", x)
    return ragged_dot_general_p.bind(
        *operands,
        dimension_numbers=_ragged_numbers(ragged_dot_dimension_numbers),
        precision=canonical_precision(precision),
        preferred_element_type=(
            None if preferred_element_type is None else as_dtype(preferred_element_type)
        ),
    )


def _ragged_numbers(numbers: Any) -> RaggedDotDimensionNumbers:
    try:
        ((cl, cr), (bl, br)), ragged, group = numbers
        dims = ((_axis_tuple(cl), _axis_tuple(cr)), (_axis_tuple(bl), _axis_tuple(br)))
        return RaggedDotDimensionNumbers(dims, _axis_tuple(ragged), _axis_tuple(group))
    except (TypeError, ValueError, AttributeError):
        raise TypeError(
            f"lax.ragged_dot_general got dimension numbers {numbers!r}{here()}: they are a "
            "RaggedDotDimensionNumbers(((lhs_contracting, rhs_contracting), (lhs_batch, "
            "rhs_batch)), lhs_ragged_dimensions, rhs_group_dimensions)."
        ) from None


def _axis_tuple(axes: Any) -> tuple[int, ...]:
    return tuple([a.__index__() for a in axes])


def scaled_dot(
    lhs: ArrayLike,
    rhs: ArrayLike,
    *,
    lhs_scale: ArrayLike | None = None,
    rhs_scale: ArrayLike | None = None,
    dimension_numbers: DotDimensionNumbers | None = None,
    preferred_element_type: Any = None,
) -> Array:
    """``dot_general`` of operands that are multiplied by scales first.

    Along each axis a scale has the operand's size, or along summed ones a divisor of it: then one
    scale holds for a block of elements. Accelerators that multiply such blocks know the operation
    by its name (``xla.scaled_dot``); elsewhere it is multiplied out.

    Args:
        lhs_scale, rhs_scale: arrays of as many axes as the operands; None for 1.
        dimension_numbers: as of ``dot_general``; by default the last axis of ``lhs`` and the second
            to last of ``rhs`` are summed, and all axes before are batch axes.
        preferred_element_type: of the products and of the result; ``bfloat16`` by default.

    Raises:
        TypeError: scales do not fit their operand, or operands each other.
    """
    a, b = check("scaled_dot", lhs), check("scaled_dot", rhs)
    dims = _scaled_numbers(dimension_numbers, a, b)
    dtype = as_dtype("bfloat16" if preferred_element_type is None else preferred_element_type)
    (contract_l, contract_r), _ = dims
    given = [lhs, rhs]
    for side, x, scale, summed in (
        ("lhs", a, lhs_scale, contract_l),
        ("rhs", b, rhs_scale, contract_r),
    ):
        if scale is not None:
            _check_scale(side, x, check("scaled_dot", scale), summed)
        if scale is None:
            ones = tuple(1 if i in summed else d for i, d in enumerate(x.shape))
            scale = full(ones, 1, dtype)
        given.append(scale)
    numbers = [[list(axes) for axes in pair] for pair in dims]
    products = composite(partial(_multiplied, dims, dtype), "xla.scaled_dot")
    return products(*given, dimension_numbers=numbers, preferred_element_type=dtype)


def _scaled_numbers(dims: Any, a: ShapedArray, b: ShapedArray) -> Any:
    if dims is not None:
        (cl, cr), (bl, br) = dims
        return (tuple(cl), tuple(cr)), (tuple(bl), tuple(br))
    n = len(a.shape)
    if n < 2 or len(b.shape) != n:
        raise TypeError(
            f"lax.scaled_dot got {a.str_short()} and {b.str_short()}{here()}: without "
            "dimension_numbers it takes arrays of one number of axes, at least two."
        )
    batch = tuple(range(n - 2))
    return ((n - 1,), (n - 2,)), (batch, batch)


def _check_scale(side: str, x: ShapedArray, scale: ShapedArray, summed: tuple[int, ...]) -> None:
    fits = len(scale.shape) == len(x.shape) and all(
        s == d or (i in summed and s > 0 and d % s == 0)
        for i, (s, d) in enumerate(zip(scale.shape, x.shape))
    )
    if not fits:
        raise TypeError(
            f"lax.scaled_dot got {side}_scale {scale.str_short()} for {side} {x.str_short()}"
            f"{here()}: it has the operand's size along each axis, or a divisor of it along those "
            f"that are summed, {summed}."
        )


def _multiplied(
    dims: Any, dtype: Any, lhs: Any, rhs: Any, lhs_scale: Any, rhs_scale: Any, **_: Any
) -> Any:
    x, y = _scaled(lhs, lhs_scale, dtype), _scaled(rhs, rhs_scale, dtype)
    return dot_general(x, y, dims, preferred_element_type=dtype)


def _scaled(x: Any, scale: Any, dtype: Any) -> Any:
    for i, d in enumerate(x.shape):
        n = scale.shape[i]
        if n != d:
            blocks = repeated(scale, d // n, i + 1)
            scale = reshaped(blocks, (*scale.shape[:i], d, *scale.shape[i + 1 :]))
    factors = [convert_element_type_p.bind(v, new_dtype=dtype, weak_type=False) for v in (x, scale)]
    return mul_p.bind(*factors)
