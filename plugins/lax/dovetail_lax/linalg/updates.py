"""Public functions of symmetric matrices that change by products."""

from __future__ import annotations

from dovetail_base.foreign import names_itself

from ..functions._args import Array, ArrayLike, check
from ..numerics.matrices import lower, transposed_matrix, upper
from ..primitives.arithmetic import add_p
from ..primitives.updates import cholesky_update_p, symmetric_product_p


@names_itself
def cholesky_update(r_matrix: ArrayLike, w_vector: ArrayLike) -> Array:
    """The upper triangular ``S`` with ``Sᵀ S = Rᵀ R + w wᵀ``, in ``O(n²)`` operations.

    Args:
        r_matrix: upper triangular real matrices ``R`` of shape ``(..., n, n)``; the lower triangle
            is not read.
        w_vector: vectors of shape ``(..., n)``.

    Returns: matrices whose diagonals are not negative.

    Raises:
        TypeError: the element type is not a float of 32 or 64 bits.
        ValueError: shapes or element types do not fit.
    """
    return cholesky_update_p.bind(r_matrix, w_vector)


@names_itself
def symmetric_product(
    a_matrix: ArrayLike,
    c_matrix: ArrayLike,
    *,
    alpha: float = 1.0,
    beta: float = 0.0,
    symmetrize_output: bool = False,
) -> Array:
    """``alpha a aᵀ + beta c``.

    Args:
        a_matrix: matrices of shape ``(..., m, n)``.
        c_matrix: symmetric matrices of shape ``(..., m, m)``.
        symmetrize_output: mirror the lower triangle, so that the result is exactly symmetric.

    Raises:
        TypeError: the element type is not a float or complex type of 32 or 64 bits.
        ValueError: shapes or element types do not fit.
    """
    for x in (a_matrix, c_matrix):
        check("linalg.symmetric_product", x)
    out = symmetric_product_p.bind(a_matrix, c_matrix, alpha=float(alpha), beta=float(beta))
    if symmetrize_output:
        return add_p.bind(lower(out), upper(transposed_matrix(out), 1))
    return out
