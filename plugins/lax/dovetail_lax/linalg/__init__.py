"""Linear algebra on batches of matrices: the public names of ``jax.lax.linalg``."""

# All of it before a part: a thread that had begun with a part would wait for one that imports all.
from .. import primitives as primitives
from ..primitives.factorizations import (
    cholesky_p as cholesky_p,
    householder_product_p as householder_product_p,
    lu_p as lu_p,
    lu_pivots_to_permutation_p as lu_pivots_to_permutation_p,
    qr_p as qr_p,
    triangular_solve_p as triangular_solve_p,
)
from ..primitives.spectral import (
    EighImplementation as EighImplementation,
    EigImplementation as EigImplementation,
    SvdAlgorithm as SvdAlgorithm,
    eig_p as eig_p,
    eigh_p as eigh_p,
    svd_p as svd_p,
)
from .factorizations import (
    cholesky as cholesky,
    householder_product as householder_product,
    lu as lu,
    lu_pivots_to_permutation as lu_pivots_to_permutation,
    qr as qr,
    symmetric_product as symmetric_product,
    triangular_solve as triangular_solve,
)
from .spectral import eig as eig, eigh as eigh, svd as svd

__all__ = [
    "EigImplementation", "EighImplementation", "SvdAlgorithm", "cholesky", "cholesky_p", "eig",
    "eig_p", "eigh", "eigh_p", "householder_product", "householder_product_p", "lu", "lu_p",
    "lu_pivots_to_permutation", "lu_pivots_to_permutation_p", "qr", "qr_p", "svd", "svd_p",
    "symmetric_product", "triangular_solve", "triangular_solve_p",
]  # fmt: skip
