"""The primitive of equations with tridiagonal matrices."""

from __future__ import annotations

from typing import Any

from dovetail_core import Primitive, ShapedArray

from ..dtypes import finfo
from ..errors import ShapeError
from ..scalars import scalar
from ._elementwise import place
from .arithmetic import abs_p, div_p, max_p, mul_p, sub_p
from .discrete import lt_p
from .factorizations import matrix_type
from .moves import full, moved, spread
from .reductions import reduce_max_p
from .traits import describe
from .typed import def_typed_decomposition
from .values import convert_element_type_p, real_part, select_n_p

tridiagonal_solve_p = Primitive("tridiagonal_solve")
"""``X`` with ``A X = B`` for tridiagonal ``A``, given as three diagonals of equal length.

``A[i, i - 1]`` is element ``i`` of the first, ``A[i, i + 1]`` of the third; what lies outside of
the matrix is not read.
"""


@tridiagonal_solve_p.def_abstract_eval
def _tridiagonal_solve_type(
    dl: ShapedArray, d: ShapedArray, du: ShapedArray, b: ShapedArray, *, perturb_singular: bool
) -> ShapedArray:
    batch, m, _ = matrix_type("tridiagonal_solve", b)
    shown = ", ".join(x.str_short() for x in (dl, d, du, b))
    if any(x.dtype != b.dtype for x in (dl, d, du)):
        raise TypeError(
            f"lax.linalg.tridiagonal_solve takes operands of one dtype, got {shown}{place()}. "
            "Convert them (convert_element_type)."
        )
    if any(x.shape != (*batch, m) for x in (dl, d, du)):
        raise ShapeError(
            f"lax.linalg.tridiagonal_solve got {shown}{place()}: the three diagonals must have one "
            "shape, and the last operand that shape and an axis of right sides. Pad the outer "
            "diagonals with a zero, the lower one at its begin, the upper one at its end."
        )
    return b.strong()


@def_typed_decomposition(tridiagonal_solve_p)
def _eliminated(dl: Any, d: Any, du: Any, b: Any, *, perturb_singular: bool) -> Any:
    """Elimination without exchanges of rows, which is exact where the diagonal dominates."""
    from ..functions.control_flow import scan

    if 0 in b.shape:
        return b
    axis = len(b.shape) - 2
    least = _least_pivot(dl, d, du) if perturb_singular else None
    rows = (*(moved(x, axis, 0) for x in (dl, d, du)), moved(b, axis, 0))
    zeros = full(rows[1].shape[1:], 0, b.dtype), full(rows[3].shape[1:], 0, b.dtype)

    def forward(last: tuple[Any, Any], row: tuple[Any, ...]) -> tuple[Any, Any]:
        ratio, y = last
        low, middle, high, right = row
        pivot = sub_p.bind(middle, mul_p.bind(low, ratio))
        if least is not None:
            pivot = select_n_p.bind(lt_p.bind(abs_p.bind(pivot), least), pivot, _as(least, pivot))
        rest = sub_p.bind(right, mul_p.bind(_wide(low, y), y))
        result = div_p.bind(high, pivot), div_p.bind(rest, _wide(pivot, rest))
        return result, result

    def backward(x: Any, row: tuple[Any, Any]) -> tuple[Any, Any]:
        ratio, y = row
        x = sub_p.bind(y, mul_p.bind(_wide(ratio, x), x))
        return x, x

    reduced = scan(forward, zeros, rows)[1]
    return moved(scan(backward, zeros[1], reduced, reverse=True)[1], 0, axis)


def _least_pivot(*diagonals: Any) -> Any:
    """What pivots smaller than it are replaced by: the rounding of the largest element."""
    dtype = real_part(diagonals[0].dtype)
    axes = (len(diagonals[0].shape) - 1,)
    sizes = [reduce_max_p.bind(abs_p.bind(x), axes=axes) for x in diagonals]
    largest = max_p.bind(max_p.bind(*sizes[:2]), sizes[2])
    info = finfo(dtype)
    least = mul_p.bind(largest, scalar(float(info.eps), dtype))
    return max_p.bind(least, scalar(float(info.tiny), dtype))


def _as(x: Any, like: Any) -> Any:
    if x.dtype == like.dtype:
        return x
    return convert_element_type_p.bind(x, new_dtype=like.dtype, weak_type=False)


def _wide(x: Any, y: Any) -> Any:
    return spread(x, y.shape, tuple(range(len(x.shape))))


describe(__name__)
