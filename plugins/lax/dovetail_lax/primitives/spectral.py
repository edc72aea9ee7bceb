"""Primitives of eigenvalues and singular values of matrices, which are the last two axes."""

from __future__ import annotations

import enum
from typing import Any

from dovetail_core import Primitive, ShapedArray

from .factorizations import matrix_type
from .traits import describe
from .values import complex_of, real_part


class SvdAlgorithm(enum.Enum):
    """How a singular value decomposition is computed; platforms offer some of these."""

    DEFAULT = "default"
    QR = "QR"
    JACOBI = "Jacobi"
    POLAR = "polar"
    DIVIDE_AND_CONQUER = "divide_and_conquer"


class EigImplementation(enum.Enum):
    """Which library computes eigenvalues of general matrices."""

    CUSOLVER = "cusolver"
    MAGMA = "magma"
    LAPACK = "lapack"


class EighImplementation(enum.Enum):
    """How eigenvalues of Hermitian matrices are computed."""

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


describe(__name__)
