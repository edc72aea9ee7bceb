"""Primitives of eigenvalues and singular values, and of the derivatives of eigenvectors.

Where a matrix changes by dA, with D = Vᴴ dA V, its eigenvalues change by the diagonal of D, and an
eigenvector turns into another by the element of D over the gap between their values. Vectors of
equal values may be turned into each other, and dA turns them by any amount. A smooth function of
the matrix does not depend on that turn, but on the elements of D beside the diagonal, by a slope
that is the limit of a quotient of two differences that are both 0: for V g(w) Vᴴ it is g', which no
rule of the decomposition can compute, since g' comes with the diagonal of D alone.

The gradient is defined where those elements do not matter: where the cotangent of the turn is 0 but
for roundings, or symmetric, for functions of the vectors alone, whatever their cotangents of values
are (that such a cotangent is 0 does not imply that values are not used). Elsewhere it is NaN.
"""

from __future__ import annotations

import enum
from typing import Any

from dovetail_core import Primitive, ShapedArray

from ..dtypes import finfo
from ..scalars import scalar
from .arithmetic import abs_p, div_p, mul_p, sub_p
from .decompositions import as_typed, def_typed_decomposition
from .discrete import gt_p, or_p
from .factorizations import matrix_type
from .moves import full, spread
from .reductions import reduce_max_p
from .traits import describe
from .values import complex_of, convert_element_type_p, real_part, select_n_p


class SvdAlgorithm(enum.Enum):
    """Algorithms of singular value decomposition; platforms offer some of these."""

    DEFAULT = "default"
    QR = "QR"
    JACOBI = "Jacobi"
    POLAR = "polar"
    DIVIDE_AND_CONQUER = "divide_and_conquer"


class EigImplementation(enum.Enum):
    """Libraries that compute eigenvalues of general matrices."""

    CUSOLVER = "cusolver"
    MAGMA = "magma"
    LAPACK = "lapack"


class EighImplementation(enum.Enum):
    """Algorithms for the eigenvalues of Hermitian matrices."""

    QR = "qr"
    JACOBI = "jacobi"
    QDWH = "qdwh"


eigh_p = Primitive("eigh", multiple_results=True)
"""Eigenvectors (as columns) and eigenvalues, ascending, of Hermitian matrices of which one triangle
is read."""


@eigh_p.def_abstract_eval
def _eigh_type(x: ShapedArray, *, lower: bool) -> list[ShapedArray]:
    batch, n, _ = matrix_type("eigh", x, square=True)
    return [x.strong(), ShapedArray((*batch, n), real_part(x.dtype))]


eig_p = Primitive("eig", multiple_results=True)
"""Eigenvalues of general matrices, and left and right eigenvectors (as columns) where wanted.

Eigenvectors are of length 1, and their largest element is real: that fixes their derivatives, which
they have with ``enable_eigvec_derivs``.
"""


@eig_p.def_abstract_eval
def _eig_type(
    x: ShapedArray,
    *,
    compute_left_eigenvectors: bool,
    compute_right_eigenvectors: bool,
    enable_eigvec_derivs: bool,
) -> list[ShapedArray]:
    batch, n, _ = matrix_type("eig", x, square=True)
    dtype = complex_of(x.dtype)
    vectors = ShapedArray(x.shape, dtype)
    wanted = compute_left_eigenvectors + compute_right_eigenvectors
    return [ShapedArray((*batch, n), dtype), *[vectors] * wanted]


svd_p = Primitive("svd", multiple_results=True)
"""Singular values in descending order; with ``compute_uv`` also ``U`` and ``Vᴴ``."""


@svd_p.def_abstract_eval
def _svd_type(
    x: ShapedArray, *, full_matrices: bool, compute_uv: bool, algorithm: Any
) -> list[ShapedArray]:
    batch, m, n = matrix_type("svd", x)
    k = min(m, n)
    values = ShapedArray((*batch, k), real_part(x.dtype))
    if not compute_uv:
        return [values]
    left, right = (m, n) if full_matrices else (k, k)
    return [
        values,
        ShapedArray((*batch, m, left), x.dtype),
        ShapedArray((*batch, right, n), x.dtype),
    ]


over_gaps_p = Primitive("over_gaps")
"""Elements of square matrices over real gaps, off the diagonal; on it they are 0.

Where the gap is a rounding (where the third operand is true) the quotient is 0 for elements that
are small beside the largest of their matrix, and for symmetric ones where values are not used
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
