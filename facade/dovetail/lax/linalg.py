"""``import dovetail.lax.linalg``: the names of dovetail_lax.linalg."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dovetail_core.registry.facade_names import facade_getattr as _facade_getattr

if TYPE_CHECKING:
    from dovetail_lax.linalg import (
        EighImplementation as EighImplementation,
        EigImplementation as EigImplementation,
        SvdAlgorithm as SvdAlgorithm,
        cholesky as cholesky,
        cholesky_p as cholesky_p,
        eig as eig,
        eig_p as eig_p,
        eigh as eigh,
        eigh_p as eigh_p,
        householder_product as householder_product,
        householder_product_p as householder_product_p,
        lu as lu,
        lu_p as lu_p,
        lu_pivots_to_permutation as lu_pivots_to_permutation,
        lu_pivots_to_permutation_p as lu_pivots_to_permutation_p,
        qr as qr,
        qr_p as qr_p,
        svd as svd,
        svd_p as svd_p,
        symmetric_product as symmetric_product,
        triangular_solve as triangular_solve,
        triangular_solve_p as triangular_solve_p,
    )

_WHERE = {
    "EigImplementation": ("lax", "dovetail_lax.linalg:EigImplementation"),
    "EighImplementation": ("lax", "dovetail_lax.linalg:EighImplementation"),
    "SvdAlgorithm": ("lax", "dovetail_lax.linalg:SvdAlgorithm"),
    "cholesky": ("lax", "dovetail_lax.linalg:cholesky"),
    "cholesky_p": ("lax", "dovetail_lax.linalg:cholesky_p"),
    "eig": ("lax", "dovetail_lax.linalg:eig"),
    "eig_p": ("lax", "dovetail_lax.linalg:eig_p"),
    "eigh": ("lax", "dovetail_lax.linalg:eigh"),
    "eigh_p": ("lax", "dovetail_lax.linalg:eigh_p"),
    "householder_product": ("lax", "dovetail_lax.linalg:householder_product"),
    "householder_product_p": ("lax", "dovetail_lax.linalg:householder_product_p"),
    "lu": ("lax", "dovetail_lax.linalg:lu"),
    "lu_p": ("lax", "dovetail_lax.linalg:lu_p"),
    "lu_pivots_to_permutation": ("lax", "dovetail_lax.linalg:lu_pivots_to_permutation"),
    "lu_pivots_to_permutation_p": ("lax", "dovetail_lax.linalg:lu_pivots_to_permutation_p"),
    "qr": ("lax", "dovetail_lax.linalg:qr"),
    "qr_p": ("lax", "dovetail_lax.linalg:qr_p"),
    "svd": ("lax", "dovetail_lax.linalg:svd"),
    "svd_p": ("lax", "dovetail_lax.linalg:svd_p"),
    "symmetric_product": ("lax", "dovetail_lax.linalg:symmetric_product"),
    "triangular_solve": ("lax", "dovetail_lax.linalg:triangular_solve"),
    "triangular_solve_p": ("lax", "dovetail_lax.linalg:triangular_solve_p"),
}
__all__ = [
    "EigImplementation",
    "EighImplementation",
    "SvdAlgorithm",
    "cholesky",
    "cholesky_p",
    "eig",
    "eig_p",
    "eigh",
    "eigh_p",
    "householder_product",
    "householder_product_p",
    "lu",
    "lu_p",
    "lu_pivots_to_permutation",
    "lu_pivots_to_permutation_p",
    "qr",
    "qr_p",
    "svd",
    "svd_p",
    "symmetric_product",
    "triangular_solve",
    "triangular_solve_p",
]

__getattr__ = _facade_getattr(__name__, _WHERE)


def __dir__() -> list[str]:
    return sorted({*globals(), *_WHERE})
