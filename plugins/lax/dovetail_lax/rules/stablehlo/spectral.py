"""Lowering of eigenvalues and singular values to LAPACK."""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np

from dovetail_backends import stablehlo_rules
from dovetail_core import ShapedArray, stage_closed

from ...dtypes import finfo
from ...numerics.scaling import inverse_power, times
from ...primitives.arithmetic import abs_p, div_p, max_p, min_p
from ...primitives.moves import spread
from ...primitives.reductions import reduce_max_p
from ...primitives.spectral import SvdAlgorithm, eig_p, eigh_p, svd_p
from ...primitives.values import convert_element_type_p, imag_p, real_p
from ...scalars import scalar
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
    x, power = _inlined(b, _within_range, x)
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
    (w,) = _inlined(b, _scaled_back, w, power)
    kept = [v for v, keep in zip((left, right), wanted) if keep]
    return checked(b, info, [w, *kept])


def _inlined(b: Any, f: Any, *operands: Any) -> list[Any]:
    """The results of a function of arrays, lowered here."""
    return b.inline(
        stage_closed(f, [x.aval.without_sharding() for x in operands], f.__name__), operands
    )


def _within_range(x: Any) -> list[Any]:
    """Matrices times powers of two with which LAPACK has no need to scale them, and the powers.

    It does where elements are larger or smaller than the root of the largest number allows for,
    from 5e11 on in single precision, and as OpenBLAS has it (that of SciPy 1.17) it forgets to
    scale the eigenvalues back.
    """
    n, info = len(x.shape), finfo(x.dtype)
    parts = [real_p.bind(x), imag_p.bind(x)] if x.dtype.kind == "c" else [x]
    sizes = [reduce_max_p.bind(abs_p.bind(v), axes=(n - 2, n - 1)) for v in parts]
    size, most = reduce(max_p.bind, sizes), 2.0 ** (info.maxexp // 2 - info.nmant - 3)
    held = max_p.bind(scalar(1 / most, size.dtype), min_p.bind(size, scalar(most, size.dtype)))
    power = div_p.bind(inverse_power(size), inverse_power(held))
    return [times(x, _as(power, x.dtype)), power]


def _scaled_back(w: Any, power: Any) -> list[Any]:
    powers = spread(power, w.shape, tuple(range(len(w.shape) - 1)))
    return [div_p.bind(w, _as(powers, w.dtype))]


def _as(x: Any, dtype: Any) -> Any:
    return convert_element_type_p.bind(x, new_dtype=dtype, weak_type=False)


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
