"""Lowering of factorizations, condensed forms, reflections and tridiagonal equations.

LAPACK on the CPU; elsewhere StableHLO's operations where there are some, or decompositions.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail_backends import stablehlo_rules
from dovetail_core import Primitive, ShapedArray, stage_closed

from ...primitives.condensed import (
    hessenberg_p,
    ormqr_p,
    schur_p,
    tridiagonal_p,
    tridiagonal_solve_p,
)
from ...primitives.factorizations import (
    cholesky_p,
    geqrf_p,
    householder_product_p,
    lu_p,
    lu_pivots_to_permutation_p,
    qr_p,
    triangular_solve_p,
)
from ...primitives.values import real_part
from .kinds import compare, pad_attributes, select
from .lapack import INDEX, PERTURBED, call, checked, letter


def triangle(b: Any, x: Any, lower: bool, diagonal: int = 0) -> Any:
    """The part of matrices on and below (or above) a diagonal."""
    n = len(x.aval.shape)
    positions = ShapedArray(x.aval.shape, INDEX)
    rows, columns = (
        b.op("stablehlo.iota", [], positions, f"iota_dimension = {i} : i64") for i in (n - 2, n - 1)
    )
    if diagonal:
        rows = b.op("stablehlo.add", [rows, b.constant(diagonal, positions)], positions)
    keep = compare(b, "GE" if lower else "LE", rows, columns)
    return select(b, keep, x, b.constant(0, x.aval))


def batch_of(x: Any) -> tuple[int, ...]:
    """The batch shape of matrices."""
    return x.aval.shape[:-2]


def info_of(x: Any) -> ShapedArray:
    """The type of a routine's report, one number per matrix."""
    return ShapedArray(batch_of(x), INDEX)


@stablehlo_rules.register(cholesky_p)
def _cholesky(b: Any, x: Any) -> Any:
    out = b.out
    if out.size == 0:
        return x
    if b.platform != "cpu":
        return triangle(b, b.op("stablehlo.cholesky", [x], out, "lower = true"), True)
    factor, info = call(b, "potrf", [x], [out, info_of(x)], f"uplo = {letter('L')}", {0: 0})
    return triangle(b, checked(b, info, [factor])[0], True)


@stablehlo_rules.register(triangular_solve_p)
def _triangular_solve(
    b: Any,
    a: Any,
    rhs: Any,
    *,
    left_side: bool,
    lower: bool,
    transpose_a: bool,
    conjugate_a: bool,
    unit_diagonal: bool,
) -> Any:
    out = b.out
    if out.size == 0:
        return rhs
    conjugate = conjugate_a and a.aval.dtype.kind == "c"
    if conjugate and not transpose_a:  # no routine conjugates without transposing
        a, conjugate = _conjugated(b, a), False
    if b.platform != "cpu":
        kind = "NO_TRANSPOSE" if not transpose_a else "ADJOINT" if conjugate else "TRANSPOSE"
        given = {"left_side": left_side, "lower": lower, "unit_diagonal": unit_diagonal}
        flags = ", ".join(f"{k} = {'true' if v else 'false'}" for k, v in given.items())
        attrs = f"{flags}, transpose_a = #stablehlo<transpose {kind}>"
        return b.op("stablehlo.triangular_solve", [a, rhs], out, attrs)
    options = ", ".join(
        f"{k} = {letter(v)}"
        for k, v in (
            ("diag", "U" if unit_diagonal else "N"),
            ("side", "L" if left_side else "R"),
            ("trans_x", "N" if not transpose_a else "C" if conjugate else "T"),
            ("uplo", "L" if lower else "U"),
        )
    )
    return call(b, "trsm", [a, rhs], [out], options, {1: 0})[0]


def _conjugated(b: Any, x: Any) -> Any:
    part = ShapedArray(x.aval.shape, real_part(x.aval.dtype))
    real, imag = (b.op(f"stablehlo.{p}", [x], part) for p in ("real", "imag"))
    return b.op("stablehlo.complex", [real, b.op("stablehlo.negate", [imag], part)], x.aval)


@stablehlo_rules.register(lu_p)
def _lu(b: Any, x: Any) -> list[Any]:
    out, pivots, permutation = b.outs
    rows = permutation.shape[-1]
    if out.size == 0:
        swaps = b.constant(np.broadcast_to(np.arange(pivots.shape[-1]), pivots.shape), pivots)
        return [x, swaps, _permutation(b, swaps, rows)]
    factors, result, info = call(b, "getrf", [x], [out, pivots, info_of(x)], "", {0: 0})
    swaps = b.op("stablehlo.subtract", [result, b.constant(1, pivots)], pivots)  # counted from 1
    # A positive info reports a singular U, which is still a factor; a negative one bad input.
    zero = b.constant(0, info.aval)
    bad = select(b, compare(b, "LT", info, zero), b.constant(1, info.aval), zero)
    return [checked(b, bad, [factors])[0], swaps, _permutation(b, swaps, rows)]


def _permutation(b: Any, pivots: Any, rows: int) -> Any:
    def body(p: Any) -> list[Any]:
        return [lu_pivots_to_permutation_p.bind(p, permutation_size=rows)]

    return b.inline(stage_closed(body, [pivots.aval]), [pivots])[0]


@stablehlo_rules.register(geqrf_p)
def _geqrf(b: Any, x: Any) -> list[Any]:
    k = min(x.aval.shape[-2:])
    taus = ShapedArray((*batch_of(x), k), x.aval.dtype)
    if x.aval.size == 0:
        return [x, b.constant(0, taus)]
    return call(b, "geqrf", [x], [x.aval, taus], "", {0: 0})


@stablehlo_rules.register(qr_p)
def _qr(b: Any, x: Any, *, pivoting: bool, full_matrices: bool) -> list[Any]:
    q_type, r_type = b.outs[:2]
    batch, (m, n) = batch_of(x), x.aval.shape[-2:]
    order = ShapedArray((*batch, n), INDEX)
    if x.aval.size == 0:
        eye = np.broadcast_to(np.eye(*q_type.shape[-2:]), q_type.shape)
        positions = [b.constant(np.broadcast_to(np.arange(n), order.shape), order)]
        return [b.constant(eye, q_type), b.constant(0, r_type), *(positions if pivoting else [])]
    positions: list[Any] = []
    if pivoting:
        taus = ShapedArray((*batch, min(m, n)), x.aval.dtype)
        operands = [x, b.constant(0, order)]
        a, result, tau = call(b, "geqp3", operands, [x.aval, order, taus], "", {0: 0, 1: 1})
        positions = [b.op("stablehlo.subtract", [result, b.constant(1, order)], order)]
    else:
        a, tau = _geqrf(b, x)
    columns = q_type.shape[-1]
    reflections = _columns(b, a, columns)
    q = _product(b, reflections, tau)
    r = triangle(b, _rows(b, a, r_type.shape[-2]), False)
    return [q, r, *positions]


def _columns(b: Any, a: Any, count: int) -> Any:
    """The first columns; columns of zeros are added where there are fewer."""
    return _resized(b, a, len(a.aval.shape) - 1, count)


def _rows(b: Any, a: Any, count: int) -> Any:
    return _resized(b, a, len(a.aval.shape) - 2, count)


def _resized(b: Any, a: Any, axis: int, count: int) -> Any:
    shape = a.aval.shape
    if shape[axis] == count:
        return a
    none = [0] * len(shape)
    high = [*none[:axis], count - shape[axis], *none[axis + 1 :]]
    out = ShapedArray((*shape[:axis], count, *shape[axis + 1 :]), a.aval.dtype)
    zero = b.constant(0, ShapedArray((), a.aval.dtype))
    return b.op("stablehlo.pad", [a, zero], out, pad_attributes(none, high, none))


def _product(b: Any, a: Any, taus: Any) -> Any:
    routine = "ungqr" if a.aval.dtype.kind == "c" else "orgqr"
    return call(b, routine, [a, taus], [a.aval], "", {0: 0})[0]


@stablehlo_rules.register(householder_product_p)
def _householder_product(b: Any, a: Any, taus: Any) -> Any:
    return a if a.aval.size == 0 else _product(b, a, taus)


@stablehlo_rules.register(hessenberg_p)
def _hessenberg(b: Any, x: Any) -> list[Any]:
    out, taus = b.outs
    if out.size == 0:
        return [x, b.constant(0, taus)]
    options = f"low = 1 : i32, high = {out.shape[-1]} : i32"
    *result, info = call(b, "gehrd", [x], [out, taus, info_of(x)], options, {0: 0})
    return checked(b, info, result)


@stablehlo_rules.register(tridiagonal_p)
def _tridiagonal(b: Any, x: Any, *, lower: bool) -> list[Any]:
    outs = list(b.outs)
    if outs[0].size == 0:
        return [x, *(b.constant(0, o) for o in outs[1:])]
    routine = "hetrd" if x.aval.dtype.kind == "c" else "sytrd"
    options = f"uplo = {letter('L' if lower else 'U')}"
    *result, info = call(b, routine, [x], [*outs, info_of(x)], options, {0: 0})
    return checked(b, info, result)


@stablehlo_rules.register(schur_p)
def _schur(b: Any, x: Any, *, compute_schur_vectors: bool) -> list[Any]:
    outs, aval = list(b.outs), x.aval
    if aval.size == 0:
        return [x] * len(outs)
    values = ShapedArray((*batch_of(x), aval.shape[-1]), aval.dtype)
    parts = [values] if aval.dtype.kind == "c" else [values, values]
    mode = letter("V" if compute_schur_vectors else "N")
    result = call(
        b,
        "gees",
        [x],
        [aval, aval, *parts, info_of(x), info_of(x)],
        f"mode = {mode}, sort = {letter('N')}",
        {0: 0},
    )
    return checked(b, result[-1], result[: len(outs)])


@stablehlo_rules.register(ormqr_p)
def _ormqr(b: Any, a: Any, taus: Any, c: Any, *, left: bool, transpose: bool) -> Any:
    params = {"left": left, "transpose": transpose}
    if b.platform != "cpu" or c.aval.size == 0 or taus.aval.size == 0:
        return _decomposed(b, ormqr_p, [a, taus, c], params)
    routine = "unmqr" if a.aval.dtype.kind == "c" else "ormqr"
    options = ", ".join(f"{k} = {'true' if v else 'false'}" for k, v in params.items())
    return call(b, routine, [a, taus, c], [b.out], options, {2: 0})[0]


@stablehlo_rules.register(tridiagonal_solve_p)
def _tridiagonal_solve(
    b: Any, dl: Any, d: Any, du: Any, rhs: Any, *, perturb_singular: bool
) -> Any:
    operands = [dl, d, du, rhs]
    if b.platform != "cpu" or rhs.aval.size == 0:
        params = {"perturb_singular": perturb_singular}
        return _decomposed(b, tridiagonal_solve_p, operands, params)
    if perturb_singular:
        return call(b, PERTURBED, operands, [b.out])[0]
    outs = [d.aval, d.aval, d.aval, b.out, info_of(rhs)]
    *_, x, info = call(b, "gtsv", operands, outs, "", {0: 0, 1: 1, 2: 2, 3: 3})
    return checked(b, info, [x])[0]


def _decomposed(b: Any, primitive: Primitive, operands: list[Any], params: dict[str, Any]) -> Any:
    def body(*args: Any) -> list[Any]:
        return [primitive.decomposition(*args, **params)]  # type: ignore[misc]

    return b.inline(stage_closed(body, [x.aval for x in operands]), operands)[0]
