"""Primitives of the derivatives of eigenvectors: quotients by gaps between values.

Where a matrix changes by dA, with D = Vᴴ dA V, its eigenvalues change by the diagonal of D, and an
eigenvector turns into another by the element of D over the gap between their values. Vectors of
equal values may be turned into each other, and dA turns them by any amount; a function of the
matrix that is smooth there does not see it, but then it sees the elements of D beside the diagonal
by a slope of its own, which is the limit of a quotient of differences that are 0: for
V g(w) Vᴴ it is g', which no rule of the decomposition can know, as g' comes with the diagonal of D
alone. The gradient is found where those elements are not seen: where the cotangent of the turn is 0
but for roundings, or symmetric, for functions of the vectors alone, whatever their cotangents of
values are: that such a cotangent is 0 does not say that values are not used. Everywhere else it is
NaN.
"""

from __future__ import annotations

from typing import Any

from dovetail_core import Primitive, ShapedArray

from ..dtypes import finfo
from ..scalars import scalar
from .arithmetic import abs_p, div_p, mul_p, sub_p
from .discrete import gt_p, or_p
from .factorizations import matrix_type
from .moves import full, spread
from .reductions import reduce_max_p
from .traits import describe
from .typed import as_typed, def_typed_decomposition
from .values import convert_element_type_p, select_n_p

over_gaps_p = Primitive("over_gaps")
"""Elements of square matrices over real gaps, off the diagonal; on it they are 0.

Where the gap is a rounding (the third operand says where) the quotient is 0 for elements that are
small beside the largest of their matrix, and for symmetric ones where values are not used
(``values_used``), else NaN.
"""

rotations_p = Primitive("rotations", multiple_results=True)
"""The quotient ``over_gaps`` of matrices, and their diagonals: changes of vectors and of values."""


@over_gaps_p.def_abstract_eval
def _over_gaps_type(
    x: ShapedArray, gaps: ShapedArray, equal: ShapedArray, *, values_used: bool
) -> ShapedArray:
    matrix_type("over_gaps", x, square=True)
    return x.strong()


@rotations_p.def_abstract_eval
def _rotations_type(x: ShapedArray, gaps: ShapedArray, equal: ShapedArray) -> list[ShapedArray]:
    matrix_type("rotations", x, square=True)
    return [x.strong(), ShapedArray(x.shape[:-1], x.dtype)]


@def_typed_decomposition(over_gaps_p)
def _over_gaps(x: Any, gaps: Any, equal: Any, *, values_used: bool) -> Any:
    from ..numerics.matrices import on_diagonal

    if 0 in x.shape:
        return x
    zero, nan = (full(x.shape, v, x.dtype) for v in (0.0, float("nan")))
    same = on_diagonal(x)
    safe = select_n_p.bind(or_p.bind(equal, same), gaps, full(gaps.shape, 1, gaps.dtype))
    if gaps.dtype != x.dtype:
        safe = convert_element_type_p.bind(safe, new_dtype=x.dtype, weak_type=False)
    unknown = select_n_p.bind(_undetermined(x, gaps.dtype, values_used), zero, nan)
    result = select_n_p.bind(equal, div_p.bind(x, safe), unknown)
    return select_n_p.bind(same, result, zero)


def _undetermined(x: Any, dtype: Any, values_used: bool) -> Any:
    """True at elements to which a quotient by 0 does not give 0."""
    from ..numerics.matrices import adjoint

    last, shape = len(x.shape) - 1, x.shape
    relative = scalar(16.0 * shape[last] * float(finfo(dtype).eps), dtype)
    largest = reduce_max_p.bind(abs_p.bind(x), axes=(last - 1, last))
    limit = spread(mul_p.bind(largest, relative), shape, tuple(range(last - 1)))
    part = x if values_used else sub_p.bind(x, adjoint(x))
    return gt_p.bind(abs_p.bind(part), limit)


@rotations_p.def_decomposition
def _rotations(x: Any, gaps: Any, equal: Any) -> list[Any]:
    from ..numerics.matrices import diagonal

    turns = over_gaps_p.bind(x, gaps, equal, values_used=True)
    aval = ShapedArray(x.shape[:-1], x.dtype)
    return [turns, as_typed(diagonal(x), aval)]


describe(__name__)
