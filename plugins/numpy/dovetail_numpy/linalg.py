"""Linear algebra: ``dovetail.numpy.linalg``."""

from __future__ import annotations

from .contraction.products import vecdot as vecdot
from .linear.decompositions import (
    cholesky as cholesky,
    eig as eig,
    eigh as eigh,
    eigvals as eigvals,
    eigvalsh as eigvalsh,
    qr as qr,
    svd as svd,
    svdvals as svdvals,
)
from .linear.determinants import (
    det as det,
    matrix_power as matrix_power,
    multi_dot as multi_dot,
    slogdet as slogdet,
)
from .linear.norms import (
    cond as cond,
    matrix_norm as matrix_norm,
    matrix_rank as matrix_rank,
    norm as norm,
    vector_norm as vector_norm,
)
from .linear.products import (
    cross as cross,
    diagonal as diagonal,
    matmul as matmul,
    outer as outer,
    tensordot as tensordot,
    trace as trace,
)
from .linear.solving import (
    inv as inv,
    lstsq as lstsq,
    pinv as pinv,
    solve as solve,
    tensorinv as tensorinv,
    tensorsolve as tensorsolve,
)
from .manipulation.shapes import matrix_transpose as matrix_transpose

__all__ = [
    "cholesky", "cond", "cross", "det", "diagonal", "eig", "eigh", "eigvals", "eigvalsh", "inv",
    "lstsq", "matmul", "matrix_norm", "matrix_power", "matrix_rank", "matrix_transpose",
    "multi_dot", "norm", "outer", "pinv", "qr", "slogdet", "solve", "svd", "svdvals", "tensordot",
    "tensorinv", "tensorsolve", "trace", "vecdot", "vector_norm",
]  # fmt: skip
__programs__ = """
cholesky cond det eigh eigvals eigvalsh inv matrix_power matrix_rank norm qr slogdet solve
svd
""".split()
