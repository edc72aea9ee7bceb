"""Lowering of condensed forms, of reflections and of tridiagonal equations: LAPACK on the CPU.

Elsewhere reflections and tridiagonal equations are lowered by their decompositions.
"""

from __future__ import annotations

from typing import Any

from dovetail_backends import stablehlo_rules
from dovetail_core import Primitive, ShapedArray, stage_closed

from ...primitives.condensed import hessenberg_p, ormqr_p, schur_p, tridiagonal_p
from ...primitives.tridiagonal import tridiagonal_solve_p
from .factorizations import batch_of, info_of
from .lapack import PERTURBED, call, checked, letter


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
