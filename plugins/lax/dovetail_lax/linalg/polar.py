"""The public function of polar decomposition."""

from __future__ import annotations

from typing import Any

from dovetail_base import arguments
from dovetail_base.foreign import names_itself

from ..dtypes import finfo
from ..functions._args import Array, ArrayLike, check
from ..numerics.matrices import adjoint, matmul
from ..primitives.discrete import lt_p
from ..primitives.factorizations import INDEX, matrix_type
from ..primitives.moves import spread
from ..primitives.polar import qdwh_p
from ..primitives.values import convert_element_type_p, iota_p, select_n_p
from ..scalars import scalar
from .factorizations import symmetrized


@names_itself
def qdwh(
    x: ArrayLike,
    *,
    is_hermitian: bool = False,
    max_iterations: int | None = None,
    eps: float | None = None,
    dynamic_shape: tuple[Any, Any] | None = None,
) -> tuple[Array, Array, Array, Array]:
    """The polar decomposition ``x = U H``: orthonormal columns, and a positive semidefinite matrix.

    By Halley's iteration with dynamic weights. ``U`` and ``H`` have derivatives.

    Args:
        x: matrices of full rank of shape ``(..., m, n)`` with ``m >= n``.
        is_hermitian: accepted for compatibility.
        max_iterations: after how many iterations to end at the latest; 10 by default.
        eps: iterations end when one changes ``U`` by less than ``(4 eps)^(1/3)`` of it; by default
            the precision of the element type.
        dynamic_shape: ``(rows, columns)`` of the part of ``x`` that counts, perhaps traced; the
            rest counts as zero.

    Returns: ``(U, H, iterations, converged)``, the last one a boolean for each matrix.

    Raises:
        TypeError: the element type is not a float or complex type of 32 or 64 bits.
        ValueError: ``x`` is no batch of matrices, or these have more columns than rows.
    """
    aval = check("linalg.qdwh", x)
    matrix_type("qdwh", aval)
    most = 10 if max_iterations is None else arguments.integer("max_iterations", max_iterations)
    precision = float(finfo(aval.dtype).eps) if eps is None else float(eps)
    if dynamic_shape is not None:
        x = _part(x, dynamic_shape)
    u, count, converged = qdwh_p.bind(x, max_iterations=most, eps=precision)
    return u, symmetrized(matmul(adjoint(u), x)), count, converged


def _part(x: Any, sizes: tuple[Any, Any]) -> Any:
    """The matrices, zero in rows and columns beyond."""
    for axis, size in zip((-2, -1), sizes):
        places = iota_p.bind(dtype=INDEX, shape=x.shape, dimension=len(x.shape) + axis)
        size = convert_element_type_p.bind(size, new_dtype=INDEX, weak_type=False)
        inside = lt_p.bind(places, spread(size, x.shape))
        x = select_n_p.bind(inside, scalar(0, x.dtype), x)
    return x
