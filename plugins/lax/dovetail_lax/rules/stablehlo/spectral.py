"""Lowering of eigenvalues and singular values to LAPACK."""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail_backends import stablehlo_rules
from dovetail_core import ShapedArray

from ...primitives.spectral import SvdAlgorithm, eig_p, eigh_p, svd_p
from .factorizations import batch_of, info_of
from .lapack import call, checked, letter


@stablehlo_rules.register(eigh_p)
def _eigh(b: Any, x: Any, *, lower: bool) -> list[Any]:
    vectors, values = b.outs
    if vectors.size == 0:
        return [x, b.constant(0, values)]
    routine = "heevd" if x.aval.dtype.kind == "c" else "syevd"
    options = f"mode = {letter('V')}, uplo = {letter('L' if lower else 'U')}"
    v, w, info = call(b, routine, [x], [vectors, values, info_of(x)], options, {0: 0})
    return checked(b, info, [v, w])


@stablehlo_rules.register(eig_p)
def _eig(
    b: Any,
    x: Any,
    *,
    compute_left_eigenvectors: bool,
    compute_right_eigenvectors: bool,
    enable_eigvec_derivs: bool,
) -> list[Any]:
    values, outs = b.out, list(b.outs)
    if x.aval.size == 0:
        return [b.constant(0, o) for o in outs]
    vectors = ShapedArray(x.aval.shape, values.dtype)
    wanted = (compute_left_eigenvectors, compute_right_eigenvectors)
    options = ", ".join(
        f"{k} = {letter('V' if v else 'N')}"
        for k, v in zip(("compute_left", "compute_right"), wanted)
    )
    if x.aval.dtype.kind == "c":
        w, left, right, info = call(b, "geev", [x], [values, vectors, vectors, info_of(x)], options)
    else:
        part = ShapedArray(values.shape, x.aval.dtype)
        real, imag, left, right, info = call(
            b, "geev", [x], [part, part, vectors, vectors, info_of(x)], options
        )
        w = b.op("stablehlo.complex", [real, imag], values)
    kept = [v for v, keep in zip((left, right), wanted) if keep]
    return checked(b, info, [w, *kept])


@stablehlo_rules.register(svd_p)
def _svd(b: Any, x: Any, *, full_matrices: bool, compute_uv: bool, algorithm: Any) -> list[Any]:
    outs = list(b.outs)
    values, batch, (m, n) = outs[0], batch_of(x), x.aval.shape[-2:]
    if x.aval.size == 0:
        eyes = [b.constant(np.broadcast_to(np.eye(*o.shape[-2:]), o.shape), o) for o in outs[1:]]
        return [b.constant(0, values), *eyes]
    k, dtype = min(m, n), x.aval.dtype
    left, right = (m, n) if compute_uv and full_matrices else (k, k)
    mode = ("A" if full_matrices else "S") if compute_uv else "N"
    types = [
        x.aval,
        values,
        ShapedArray((*batch, m, left), dtype),
        ShapedArray((*batch, right, n), dtype),
        info_of(x),
    ]
    routine = _routine(algorithm)
    _, s, u, vh, info = call(b, routine, [x], types, f"mode = {letter(mode)}", {0: 0})
    return checked(b, info, [s, u, vh] if compute_uv else [s])


def _routine(algorithm: Any) -> str:
    if algorithm in (None, SvdAlgorithm.DEFAULT, SvdAlgorithm.DIVIDE_AND_CONQUER):
        return "gesdd"
    if algorithm == SvdAlgorithm.QR:
        return "gesvd"
    raise NotImplementedError(
        f"lax.linalg.svd on the CPU does not offer {algorithm}: use DEFAULT, DIVIDE_AND_CONQUER or "
        "QR."
    )
