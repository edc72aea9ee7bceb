"""The public function that solves equations with tridiagonal matrices."""

from __future__ import annotations

from dovetail_base.foreign import names_itself

from ..functions._args import Array, ArrayLike
from ..primitives.tridiagonal import tridiagonal_solve_p


@names_itself
def tridiagonal_solve(
    dl: ArrayLike, d: ArrayLike, du: ArrayLike, b: ArrayLike, *, perturb_singular: bool = False
) -> Array:
    """``X`` with ``A X = b`` for tridiagonal matrices ``A``, by elimination.

    On the CPU rows are exchanged for the sake of accuracy; on other platforms not, so that ``A``
    should be positive definite or its diagonal dominant there.

    Args:
        dl: vectors ``(..., m)``, the lower diagonals: element ``i`` is ``A[i, i - 1]``, and the
            first one is not read.
        d: vectors ``(..., m)``, the diagonals.
        du: vectors ``(..., m)``, the upper diagonals: element ``i`` is ``A[i, i + 1]``, and the
            last one is not read.
        b: matrices of right sides, ``(..., m, k)``.
        perturb_singular: change pivots that are almost zero so that the result is finite, as
            inverse iteration for eigenvectors wants it. Otherwise the solution with a
            singular matrix is NaN.

    Raises:
        TypeError: element types differ or are not floats or complex numbers of 32 or 64 bits.
        ValueError: shapes do not fit.
    """
    return tridiagonal_solve_p.bind(dl, d, du, b, perturb_singular=bool(perturb_singular))
