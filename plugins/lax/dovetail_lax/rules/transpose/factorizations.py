"""Transpose of the triangular solve, which is linear in its right-hand side."""

from __future__ import annotations

from typing import Any

from dovetail_ad import is_linear, transpose_rules

from ...primitives.factorizations import triangular_solve_p


@transpose_rules.register(triangular_solve_p)
def _triangular_solve(ct: Any, a: Any, b: Any, *, transpose_a: bool, **params: Any) -> list[Any]:
    assert is_linear(b) and not is_linear(a)
    return [None, triangular_solve_p.bind(a, ct, transpose_a=not transpose_a, **params)]
