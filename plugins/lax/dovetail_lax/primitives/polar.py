"""The primitive of polar decomposition."""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail_core import Primitive, ShapedArray, here

from ..errors import ShapeError
from .factorizations import INDEX, matrix_type
from .moves import full
from .traits import describe
from .values import convert_element_type_p

qdwh_p = Primitive("qdwh", multiple_results=True)
"""``U`` of ``A = U H`` with orthonormal columns, iterations, and whether each matrix converged."""


@qdwh_p.def_abstract_eval
def _qdwh_type(x: ShapedArray, *, max_iterations: int, eps: float) -> list[ShapedArray]:
    batch, m, n = matrix_type("qdwh", x)
    if m < n:
        raise ShapeError(
            f"lax.linalg.qdwh got {x.str_short()}{here()}: matrices must have at least as many "
            "rows as columns. Decompose the adjoint: if it is U H, the matrix is H Uᴴ."
        )
    return [x.strong(), ShapedArray((), INDEX), ShapedArray(batch, np.dtype(bool))]


@qdwh_p.def_decomposition
def _iterated(x: Any, *, max_iterations: int, eps: float) -> list[Any]:
    from ..numerics.polar import orthonormal

    x = convert_element_type_p.bind(x, new_dtype=x.dtype, weak_type=False)
    if 0 in x.shape:
        none = convert_element_type_p.bind(0, new_dtype=INDEX, weak_type=False)
        return [x, none, full(x.shape[:-2], True, np.dtype(bool))]
    return list(orthonormal(x, max_iterations, eps))


describe(__name__)
