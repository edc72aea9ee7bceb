"""Transposition of linear algebra: equations and reflections are linear in one operand."""

from __future__ import annotations

from typing import Any

from dovetail_ad import is_linear, transpose_rules

from ...numerics.matrices import identity, on_rows
from ...primitives.arithmetic import add_p, mul_p
from ...primitives.condensed import ormqr_p, tridiagonal_solve_p
from ...primitives.factorizations import triangular_solve_p
from ...primitives.moves import along, padded
from ...primitives.spectral import over_gaps_p, rotations_p
from ...primitives.values import conj_p


@transpose_rules.register(triangular_solve_p)
def _triangular_solve(ct: Any, a: Any, b: Any, *, transpose_a: bool, **params: Any) -> list[Any]:
    assert is_linear(b) and not is_linear(a)
    return [None, triangular_solve_p.bind(a, ct, transpose_a=not transpose_a, **params)]


@transpose_rules.register(tridiagonal_solve_p)
def _tridiagonal_solve(ct: Any, dl: Any, d: Any, du: Any, b: Any, **params: Any) -> list[Any]:
    assert is_linear(b) and not any(is_linear(x) for x in (dl, d, du))
    out = tridiagonal_solve_p.bind(_shifted(du, 1), d, _shifted(dl, -1), ct, **params)
    return [None, None, None, out]


def _shifted(x: Any, by: int) -> Any:
    """The elements of vectors moved by one: ``A[i, i + 1]`` as an element of row ``i + 1``."""
    last = len(x.shape) - 1
    n = x.shape[last]
    if n == 0:
        return x
    kept = along(x, last, 0, n - 1) if by > 0 else along(x, last, 1, n)
    return padded(kept, [(0, 0, 0)] * last + [(1, 0, 0) if by > 0 else (0, 1, 0)])


@transpose_rules.register(over_gaps_p)
def _over_gaps(ct: Any, x: Any, gaps: Any, equal: Any, *, values_used: bool) -> list[Any]:
    assert is_linear(x) and not is_linear(gaps)
    return [over_gaps_p.bind(ct, gaps, equal, values_used=values_used), None, None]


@transpose_rules.register(rotations_p)
def _rotations(cts: Any, x: Any, gaps: Any, equal: Any) -> list[Any]:
    turns, values = cts
    total = None
    if turns is not None:
        total = over_gaps_p.bind(turns, gaps, equal, values_used=values is not None)
    if values is not None:
        shape, dtype = x.aval.shape, x.aval.dtype
        diagonal = mul_p.bind(on_rows(values, shape), identity(shape, dtype))
        total = diagonal if total is None else add_p.bind(total, diagonal)
    return [total, None, None]


@transpose_rules.register(ormqr_p)
def _ormqr(ct: Any, a: Any, taus: Any, c: Any, *, left: bool, transpose: bool) -> list[Any]:
    # Transposition does not conjugate: Qᵀ is the conjugate of Qᴴ.
    assert is_linear(c) and not is_linear(a) and not is_linear(taus)
    if a.dtype.kind == "c":
        out = ormqr_p.bind(a, taus, conj_p.bind(ct), left=left, transpose=not transpose)
        return [None, None, conj_p.bind(out)]
    return [None, None, ormqr_p.bind(a, taus, ct, left=left, transpose=not transpose)]
