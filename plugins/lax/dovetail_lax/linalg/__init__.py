"""Linear algebra on batches of matrices: the public names of ``jax.lax.linalg``."""

from ..primitives.condensed import (
    hessenberg_p as hessenberg_p,
    ormqr_p as ormqr_p,
    schur_p as schur_p,
    tridiagonal_p as tridiagonal_p,
    tridiagonal_solve_p as tridiagonal_solve_p,
)
from ..primitives.factorizations import (
    cholesky_p as cholesky_p,
    cholesky_update_p as cholesky_update_p,
    geqrf_p as geqrf_p,
    householder_product_p as householder_product_p,
    lu_p as lu_p,
    lu_pivots_to_permutation_p as lu_pivots_to_permutation_p,
    qr_p as qr_p,
    symmetric_product_p as symmetric_product_p,
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
from .condensed import (
    hessenberg as hessenberg,
    ormqr as ormqr,
    schur as schur,
    tridiagonal as tridiagonal,
    tridiagonal_solve as tridiagonal_solve,
)
from .factorizations import (
    cholesky as cholesky,
    cholesky_update as cholesky_update,
    geqrf as geqrf,
    householder_product as householder_product,
    lu as lu,
    lu_pivots_to_permutation as lu_pivots_to_permutation,
    qdwh as qdwh,
    qr as qr,
    symmetric_product as symmetric_product,
    triangular_solve as triangular_solve,
)
from .spectral import eig as eig, eigh as eigh, svd as svd

__all__ = [
    "EigImplementation", "EighImplementation", "SvdAlgorithm", "cholesky", "cholesky_p",
    "cholesky_update", "cholesky_update_p", "eig", "eig_p", "eigh", "eigh_p", "geqrf", "geqrf_p",
    "hessenberg", "hessenberg_p", "householder_product", "householder_product_p", "lu", "lu_p",
    "lu_pivots_to_permutation", "lu_pivots_to_permutation_p", "ormqr", "ormqr_p", "qdwh", "qr",
    "qr_p", "schur", "schur_p", "svd", "svd_p", "symmetric_product", "symmetric_product_p",
    "triangular_solve", "triangular_solve_p", "tridiagonal", "tridiagonal_p", "tridiagonal_solve",
    "tridiagonal_solve_p",
]  # fmt: skip
__programs__ = ["qdwh"]
