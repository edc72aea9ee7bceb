"""Derivatives of reflections, of Schur form and of tridiagonal equations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_ad import jvp_rules, jvp_values
from dovetail_core import Primitive, here

from ...functions.control_flow import scan
from ...numerics.matrices import adjoint, identity, matmul, on_rows, upper
from ...numerics.scaling import scaled_matrices, times
from ...primitives.arithmetic import add_p, mul_p, neg_p, sub_p
from ...primitives.condensed import ormqr_p, schur_p, tridiagonal_solve_p
from ...primitives.discrete import and_p, eq_p, gt_p
from ...primitives.factorizations import INDEX, householder_product_p
from ...primitives.moves import along, full, padded, spread
from ...primitives.values import convert_element_type_p, iota_p, select_n_p
from .factorizations import Many, Pair, solve


@jvp_rules.register(tridiagonal_solve_p)
def _tridiagonal_solve(
    primals: Sequence[Any], tangents: Sequence[Any], *, perturb_singular: bool
) -> Pair:
    # From A X = B: dX = A⁻¹ (dB - dA X).
    *diagonals, _ = primals
    *changes, right = tangents
    x = tridiagonal_solve_p.bind(*primals, perturb_singular=perturb_singular)
    for change, by in zip(changes, (1, 0, -1)):
        if change is not None:
            part = neg_p.bind(mul_p.bind(on_rows(change, x.shape), _rows_beside(x, by)))
            right = part if right is None else add_p.bind(right, part)
    return x, tridiagonal_solve_p.bind(*diagonals, right, perturb_singular=perturb_singular)


def _rows_beside(x: Any, by: int) -> Any:
    """The row before (1) or after (-1) each row; zero outside."""
    axis = len(x.shape) - 2
    n = x.shape[axis]
    if by == 0 or n == 0:
        return x
    kept = along(x, axis, 0, n - 1) if by > 0 else along(x, axis, 1, n)
    return padded(kept, [(0, 0, 0)] * axis + [(1, 0, 0) if by > 0 else (0, 1, 0), (0, 0, 0)])


@jvp_rules.register(ormqr_p)
def _ormqr(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> Pair:
    if tangents[0] is None and tangents[1] is None:
        a, taus, c = primals
        result = ormqr_p.bind(a, taus, c, **params)
        return result, ormqr_p.bind(a, taus, tangents[2], **params)
    return _by_decomposition(ormqr_p, primals, tangents, params)


@jvp_rules.register(householder_product_p)
def _householder_product(primals: Sequence[Any], tangents: Sequence[Any]) -> Pair:
    return _by_decomposition(householder_product_p, primals, tangents, {})


def _by_decomposition(
    primitive: Primitive, primals: Sequence[Any], tangents: Sequence[Any], params: dict[str, Any]
) -> Pair:
    """The value that the primitive has, and the derivative of its decomposition."""

    def decomposed(*args: Any) -> list[Any]:
        return [primitive.decomposition(*args, **params)]  # type: ignore[misc]

    tangent = jvp_values(decomposed, primals, tangents)[1][0]
    return primitive.bind(*primals, **params), tangent


@jvp_rules.register(schur_p)
def _schur(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> Many:
    # From A = Z T Zᴴ: with M = Zᴴ dA Z and the antihermitian X = Zᴴ dZ, dT = M + T X - X T, whose
    # strictly lower part is zero. That determines X but for its diagonal, the phases of Z's
    # columns, which is taken as zero.
    x, dx = primals[0], tangents[0]
    if x.dtype.kind != "c":
        raise NotImplementedError(
            f"lax.linalg.schur of real matrices has no derivative{here()}: their form is not "
            "smooth where eigenvalues become conjugate. Convert them to complex numbers first "
            "(convert_element_type)."
        )
    result = schur_p.bind(x, **params)
    t, z = schur_p.bind(x, compute_schur_vectors=True)
    m, (t, power) = matmul(adjoint(z), matmul(dx, z)), scaled_matrices(t)
    low = _turned(t, m)
    turn = sub_p.bind(low, adjoint(low))
    dt = upper(add_p.bind(m, sub_p.bind(matmul(t, turn), matmul(turn, t))))
    return result, [dt, times(matmul(z, turn), power)][: len(result)]


def _turned(t: Any, m: Any) -> Any:
    """The strictly lower ``X`` for which that part of ``M + T X - X T`` is zero, by columns.

    For the rows below ``j`` of column ``j``: ``(T - t_jj) x_j = X t_j - m_j``, where ``X`` has the
    columns before.
    """
    if 0 in t.shape:
        return m
    n, ndim, eye = t.shape[-1], len(t.shape), identity(t.shape, t.dtype)
    rows, columns = (
        iota_p.bind(dtype=INDEX, shape=t.shape, dimension=i) for i in (ndim - 2, ndim - 1)
    )

    def column(x: Any, j: Any) -> tuple[Any, None]:
        here = spread(j, t.shape)
        below, beyond = (gt_p.bind(positions, here) for positions in (rows, columns))
        unit = along(_ones_where(eq_p.bind(rows, here), t.dtype), ndim - 1, 0, 1)
        own = matmul(t, unit)
        pivot = spread(matmul(adjoint(unit), own), t.shape, tuple(range(ndim)))
        shifted = sub_p.bind(t, mul_p.bind(pivot, eye))
        matrix = select_n_p.bind(and_p.bind(below, beyond), eye, shifted)
        right = sub_p.bind(matmul(x, own), matmul(m, unit))
        right = mul_p.bind(right, along(_ones_where(below, t.dtype), ndim - 1, 0, 1))
        result = solve(matrix, right, left=True, low=False)
        return add_p.bind(x, matmul(result, adjoint(unit))), None

    steps = iota_p.bind(dtype=INDEX, shape=(n,), dimension=0)
    return scan(column, full(t.shape, 0, t.dtype), steps)[0]


def _ones_where(pred: Any, dtype: Any) -> Any:
    return convert_element_type_p.bind(pred, new_dtype=dtype, weak_type=False)
