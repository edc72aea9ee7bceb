"""Linear systems with a sparse matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

import dovetail_numpy as dnp
from dovetail_callbacks import pure_callback
from dovetail_core import here
from dovetail_custom_rules import custom_linear_solve
from dovetail_jit import ShapeDtypeStruct

from ..base import Array
from ..csr import CSR
from ..matrices import product


def spsolve(
    data: Any, indices: Any, indptr: Any, b: Any, tol: float = 1e-6, reorder: int = 1
) -> Array:
    """The solution of a linear system with a sparse matrix, by SciPy's direct solver on the host.

    Args:
        data, indices, indptr: the matrix, square, in the format CSR.
        b: the right-hand side, a vector of the same dtype.
        tol, reorder: of other solvers; without effect on this one.

    It is differentiable in ``data`` and ``b``.

    Raises:
        ValueError: shapes do not fit together.
        TypeError: dtypes differ, or are not of real or complex numbers.
    """
    data, indices, indptr, b = map(dnp.asarray, (data, indices, indptr, b))
    n = indptr.shape[0] - 1
    if data.shape != indices.shape or data.ndim != 1 or b.shape != (n,):
        raise ValueError(
            f"spsolve: data, indices, indptr and b have shapes {data.shape}, {indices.shape}, "
            f"{indptr.shape} and {b.shape}; they must be (nse,), (nse,), (n + 1,) and (n,){here()}"
        )
    if data.dtype != b.dtype or data.dtype.kind not in "fc":
        raise TypeError(f"spsolve: data is of {data.dtype} and b of {b.dtype}{here()}")
    mat = CSR((data, indices, indptr), shape=(n, n))

    def solve(transposed: bool, b: Any) -> Array:
        out = ShapeDtypeStruct(b.shape, b.dtype)
        return pure_callback(
            _Solver(transposed), out, data, indices, indptr, b, vmap_method="sequential"
        )

    return custom_linear_solve(
        lambda x: product(mat, x),
        b,
        lambda _, b: solve(False, b),
        lambda _, b: solve(True, b),
    )


class _Solver:
    """Calls SciPy. A class, so that programs with equal solvers are the same."""

    def __init__(self, transposed: bool) -> None:
        self.transposed = transposed

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Solver) and other.transposed == self.transposed

    def __hash__(self) -> int:
        return hash((_Solver, self.transposed))

    def __call__(self, data: Any, indices: Any, indptr: Any, b: Any) -> np.ndarray[Any, Any]:
        import scipy.sparse
        import scipy.sparse.linalg

        parts = tuple(np.asarray(x) for x in (data, indices, indptr))
        n = len(parts[2]) - 1
        mat = scipy.sparse.csr_matrix(parts, shape=(n, n))
        mat = mat.T.tocsc() if self.transposed else mat.tocsc()
        b = np.asarray(b)
        return np.asarray(scipy.sparse.linalg.spsolve(mat, b)).astype(b.dtype)
