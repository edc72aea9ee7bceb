"""Factorizations and triangular systems of many small matrices."""

from __future__ import annotations

from typing import Any

from dovetail_backends import boolean, stablehlo_rules
from dovetail_lax.linalg import cholesky_p, lu_p, triangular_solve_p

from ...library import serves
from .operand_origins import before_symmetrizing

_TYPES = ("float32", "float64")
_LEAST, _LEAST_LU = 128, 32
"""Matrices from which kernels were faster."""
_LARGEST = 24
"""Rows up to which they were."""


def _are_small(x: Any, least: int = _LEAST) -> bool:
    """Tell whether the last two axes are square matrices for which there is a kernel."""
    *_, m, n = x.aval.shape
    is_small = 0 < m == n <= _LARGEST and x.aval.size >= least * n * n
    return is_small and x.aval.dtype.name in _TYPES


@stablehlo_rules.register(cholesky_p, override=True)
def _cholesky(b: Any, x: Any) -> Any:
    if serves(b) and _are_small(x):
        raw = before_symmetrizing(b, x)
        config = {"symmetrized": boolean(raw is not None)}
        operands = [x if raw is None else raw]
        return b.custom_call("dovetail_cpu_cholesky", operands, b.outs, config)[0]
    return stablehlo_rules.replaced(cholesky_p, _cholesky)(b, x)


@stablehlo_rules.register(lu_p, override=True)
def _lu(b: Any, x: Any) -> list[Any]:
    if serves(b) and _are_small(x, _LEAST_LU):
        return b.custom_call("dovetail_cpu_lu", [x], b.outs)
    return stablehlo_rules.replaced(lu_p, _lu)(b, x)


@stablehlo_rules.register(triangular_solve_p, override=True)
def _triangular_solve(b: Any, a: Any, rhs: Any, **params: Any) -> Any:
    columns = rhs.aval.shape[-1]
    if serves(b) and params["left_side"] and _are_small(a) and 0 < columns <= _LARGEST:
        config = {
            "lower": boolean(params["lower"]),
            "transpose": boolean(params["transpose_a"]),
            "unit": boolean(params["unit_diagonal"]),
        }
        return b.custom_call("dovetail_cpu_triangular_solve", [a, rhs], b.outs, config)[0]
    return stablehlo_rules.replaced(triangular_solve_p, _triangular_solve)(b, a, rhs, **params)
