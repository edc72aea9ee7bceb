"""Primitives of symmetric matrices that change by products: Cholesky factors and the matrices."""

from __future__ import annotations

from typing import Any

from dovetail_core import Primitive, ShapedArray

from ..errors import ShapeError
from ..scalars import scalar
from ._elementwise import place
from .arithmetic import abs_p, add_p, div_p, max_p, mul_p, sqrt_p, sub_p
from .discrete import eq_p
from .factorizations import INDEX, matrix_type
from .moves import repeated, spread, transposed
from .reductions import reduce_sum_p
from .traits import describe
from .typed import def_typed_decomposition
from .values import iota_p, select_n_p

cholesky_update_p = Primitive("cholesky_update")
"""The upper triangular ``S`` with ``Sᵀ S = Rᵀ R + w wᵀ``."""


@cholesky_update_p.def_abstract_eval
def _update_type(r: ShapedArray, w: ShapedArray) -> ShapedArray:
    batch, n, _ = matrix_type("cholesky_update", r, square=True)
    if r.dtype.kind == "c":
        raise TypeError(
            f"lax.linalg.cholesky_update does not accept {r.str_short()}{place()}: it takes real "
            "matrices. Factor the complex matrix again (cholesky)."
        )
    if w.dtype != r.dtype or w.shape != (*batch, n):
        raise ShapeError(
            f"lax.linalg.cholesky_update got {r.str_short()} and {w.str_short()}{place()}: it "
            f"takes a vector of {n} elements of the matrix's dtype for each matrix."
        )
    return r.strong()


@def_typed_decomposition(cholesky_update_p)
def _rotations(r: Any, w: Any) -> Any:
    from ..functions.control_flow import scan
    from ..numerics.matrices import upper

    n = r.shape[-1]
    if 0 in r.shape:
        return r
    ndim, batch = len(r.shape), tuple(range(len(r.shape) - 2))
    rows = transposed(upper(r), (ndim - 2, *batch, ndim - 1))

    def rotate(w: Any, given: tuple[Any, Any]) -> tuple[Any, Any]:
        # Rotates the row and w, so that w becomes zero at the place of the row's first element.
        row, k = given
        places = iota_p.bind(dtype=k.dtype, shape=row.shape, dimension=len(batch))
        here = eq_p.bind(places, spread(k, row.shape))
        first, top = (
            repeated(
                reduce_sum_p.bind(
                    select_n_p.bind(here, scalar(0.0, x.dtype), x), axes=(len(batch),)
                ),
                n,
                len(batch),
            )
            for x in (row, w)
        )
        cos, sin = _rotation(first, top)
        turned = add_p.bind(mul_p.bind(cos, row), mul_p.bind(sin, w))
        return sub_p.bind(mul_p.bind(cos, w), mul_p.bind(sin, row)), turned

    steps = iota_p.bind(dtype=INDEX, shape=(n,), dimension=0)
    out = scan(rotate, w, (rows, steps))[1]
    return upper(transposed(out, (*(i + 1 for i in batch), 0, ndim - 1)))


def _rotation(x: Any, y: Any) -> tuple[Any, Any]:
    """Cosine and sine of the rotation that makes ``(x, y)`` the vector of its length."""
    zero, one = scalar(0.0, x.dtype), scalar(1.0, x.dtype)
    size = max_p.bind(abs_p.bind(x), abs_p.bind(y))
    none = eq_p.bind(size, zero)
    size = select_n_p.bind(none, size, one)
    x, y = div_p.bind(x, size), div_p.bind(y, size)
    length = sqrt_p.bind(add_p.bind(mul_p.bind(x, x), mul_p.bind(y, y)))
    length = select_n_p.bind(none, length, one)
    return select_n_p.bind(none, div_p.bind(x, length), one), div_p.bind(y, length)


symmetric_product_p = Primitive("symmetric_product")
"""``alpha A Aᵀ + beta C``."""


@symmetric_product_p.def_abstract_eval
def _product_type(a: ShapedArray, c: ShapedArray, *, alpha: float, beta: float) -> ShapedArray:
    batch, m, _ = matrix_type("symmetric_product", a)
    if c.dtype != a.dtype or c.shape != (*batch, m, m):
        raise ShapeError(
            f"lax.linalg.symmetric_product got {a.str_short()} and {c.str_short()}{place()}: the "
            f"second operand must be matrices of {m} rows and columns, of the first one's dtype."
        )
    return c.strong()


@def_typed_decomposition(symmetric_product_p)
def _square(a: Any, c: Any, *, alpha: float, beta: float) -> Any:
    from ..numerics.matrices import matmul, transposed_matrix

    square = mul_p.bind(matmul(a, transposed_matrix(a)), scalar(alpha, a.dtype))
    return square if beta == 0 else add_p.bind(square, mul_p.bind(c, scalar(beta, c.dtype)))


describe(__name__)
