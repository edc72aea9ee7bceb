"""The laws of differentiation's tables."""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail_core import get_trace, is_inexact, jaxpr_as_fun, run_under, stage_closed, typeof
from dovetail_testing import (
    Sample,
    assert_close,
    assert_near,
    assert_same,
    assert_transposes,
    finite_difference_with_error,
    law,
    precision,
    random_like,
    skip,
)
from dovetail_testing.kernel_laws import assert_same_effects, assert_types

from .forward import jvp_values
from .linear import LinearTrace, to_program
from .tables import partial_eval_rules
from .transposition import transposed_call

# Finite differences of fourth order lose about 1/5 of the digits; low precisions have none to
# spare.
_LEAST = {"float64", "float32", "complex64", "complex128"}


def _differentiable(sample: Sample) -> list[int]:
    return [i for i, a in enumerate(sample.avals) if is_inexact(getattr(a, "dtype", None))]


def _speaks(sample: Sample) -> bool:
    """True if the sample has differentiable operands and no high types, whose differences are not
    defined."""
    return bool(_differentiable(sample)) and not sample.infer().is_high


def _tangents(sample: Sample) -> list[Any]:
    """A random tangent for each differentiable operand, None for the others."""
    inexact = _differentiable(sample)
    return [random_like(a, i) if i in inexact else None for i, a in enumerate(sample.avals)]


@law("jvp", without=("nonsmooth", "extreme", "random"), applies=_speaks)
def jvp_law(sample: Sample) -> None:
    """Tangents agree with finite differences in a random direction, and primals with evaluation."""
    primals, tangents = list(sample.args), _tangents(sample)
    outs, out_tangents = jvp_values(sample.flat, primals, tangents)
    inferred = sample.infer()
    assert_types(outs, inferred.avals, "primals")
    if inferred.effects:
        program = stage_closed(
            lambda *xs: jvp_values(sample.flat, xs, tangents)[0], sample.avals, "jvp"
        )
        assert_same_effects(program, inferred, "differentiated")
    for got, expected in zip(outs, sample.flat()):
        assert_same(got, expected, "primal")
    for t, out in zip(out_tangents, outs):
        if t is not None:
            want: Any = typeof(out).tangent_type()
            got_type: Any = typeof(t)
            assert got_type.shape == want.shape and got_type.dtype == want.dtype, "tangent type"
    names = {np.asarray(x).dtype.name for x in (*primals, *outs) if is_inexact(np.asarray(x).dtype)}
    if names - _LEAST:
        skip("finite differences have no digits in this precision")
    smooth = [i for i, y in enumerate(outs) if is_inexact(np.asarray(y).dtype)]
    expected = finite_difference_with_error(
        lambda *xs: [y for i, y in enumerate(sample.flat(*xs)) if i in smooth],
        primals,
        tangents,
        scale=sample.scale,
        eps=max([precision(np.asarray(outs[i]).dtype) for i in smooth], default=0.0),
    )
    for i, (y, error) in zip(smooth, expected):
        got = np.zeros_like(y) if out_tangents[i] is None else out_tangents[i]
        tol = 30 * precision(np.asarray(outs[i]).dtype) ** 0.6
        assert_near(got, y, tol, "tangent against finite differences", atol=error)


def _is_split(sample: Sample) -> bool:
    return _speaks(sample) and partial_eval_rules.get(sample.primitive) is not None


@law("partial_eval", without=("extreme", "random"), applies=_is_split)
def partial_eval_law(sample: Sample) -> None:
    """Known results equal those of evaluation; the linear part, applied, gives the tangents."""
    primals, tangents = list(sample.args), _tangents(sample)
    expected, wanted = jvp_values(sample.flat, primals, tangents)
    trace = LinearTrace(get_trace())
    unknown = [t if t is None else trace.unknown(typeof(t)) for t in tangents]
    outs, linear = run_under(trace, jvp_values, sample.flat, primals, unknown)
    for got, y in zip(outs, expected, strict=True):
        assert not trace.owns(got), "a result depends on the tangents"
        assert_close(got, y, "a known result", scale=sample.scale)
    owned = [i for i, t in enumerate(linear) if t is not None and trace.owns(t)]
    result = to_program(trace, [x for x in unknown if x is not None], [linear[i] for i in owned])
    given = [t for t in tangents if t is not None]
    trace.ended = True
    results = jaxpr_as_fun(result.program)(*result.residuals, *given)
    for i, got in zip(owned, results, strict=True):
        want = np.zeros_like(np.asarray(got)) if wanted[i] is None else wanted[i]
        size = float(np.max(np.abs(np.asarray(want, complex)), initial=0.0))
        assert_close(got, want, "linear part against tangents", factor=256, scale=size)
    for i, t in enumerate(wanted):
        assert t is None or i in owned or not np.any(np.asarray(t)), f"tangent {i} was lost"


@law("transpose", without=("extreme", "random", "open-ended"), applies=_speaks)
def transpose_law(sample: Sample) -> None:
    """<ct, f t> = <fT ct, t> for the tangent map f of the operation at the sample."""
    inexact = _differentiable(sample)
    avals = sample.avals
    tangents = [random_like(avals[i].tangent_type(), i) for i in inexact]

    def forward(*ts: Any) -> list[Any]:
        given = dict(zip(inexact, ts))
        every = [given.get(i) for i in range(len(avals))]
        outs, result = jvp_values(sample.flat, list(sample.args), every)
        return [_dense(t, y) for t, y in zip(result, outs)]

    def backward(*cts: Any) -> list[Any]:
        def of_unknowns(*unknown: Any) -> list[Any]:
            given = dict(zip(inexact, unknown))
            every = [given.get(i) for i in range(len(avals))]
            return jvp_values(sample.flat, list(sample.args), every)[1]

        return transposed_call(of_unknowns, [avals[i].tangent_type() for i in inexact], cts)

    outs = forward(*tangents)
    if not all(np.isfinite(np.asarray(x, complex)).all() for x in outs):
        skip("the derivative is not finite here")
    cts = [random_like(typeof(y), 7 + i) for i, y in enumerate(outs)]
    tol = max([200 * precision(np.asarray(x).dtype) for x in (*outs, *tangents)], default=0.0)
    size = max([np.size(x) for x in (*outs, *tangents)], default=1)
    assert_transposes(forward, backward, tangents, cts, tol * max(1, size) ** 0.5)


def _dense(tangent: Any, primal: Any) -> Any:
    aval: Any = typeof(primal)
    if tangent is not None:
        return tangent
    dtype = aval.dtype if is_inexact(aval.dtype) else np.dtype(np.float32)
    return np.zeros(aval.shape, dtype)
