"""Products with logarithms: entropies and divergences."""

from __future__ import annotations

from typing import Any

import numpy as np

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_jit import fused

from .evaluation import Array, ArrayLike, differentiable, evaluate
from .series import log1p, log1pmx


def _share(x: Any, y: Any) -> Any:
    """``x / y``, and 0 at (0, 0), where the term whose derivative it is vanishes."""
    vanishes = dnp.logical_and(x == 0, y == 0)
    return dnp.where(vanishes, 0, x / dnp.where(vanishes, 1, y))


@differentiable(lambda out, x, y: lax.log(y), lambda out, x, y: _share(x, y))
def _xlogy(x: Any, y: Any) -> Any:
    vanishes = dnp.logical_and(x == 0, y == y)
    return dnp.where(vanishes, 0, x * lax.log(dnp.where(vanishes, 1, y)))


@differentiable(lambda out, x, y: log1p(y), lambda out, x, y: _share(x, 1 + y))
def _xlog1py(x: Any, y: Any) -> Any:
    vanishes = dnp.logical_and(x == 0, y == y)
    return dnp.where(vanishes, 0, x * log1p(dnp.where(vanishes, 0, y)))


@fused()
def xlogy(x: ArrayLike, y: ArrayLike) -> Array:
    """``x * log(y)``, and 0 where ``x`` is 0 and ``y`` is not NaN; real or complex.

    Its derivatives are ``log(y)`` and ``x / y``, in (0, 0) minus infinity and 0.
    """
    return evaluate("xlogy", _xlogy, x, y, complex=True)


@fused()
def xlog1py(x: ArrayLike, y: ArrayLike) -> Array:
    """``x * log(1 + y)``, accurately for small ``y``, and 0 where ``x`` is 0; real or complex.

    Its derivatives are ``log(1 + y)`` and ``x / (1 + y)``, in (0, -1) minus infinity and 0.
    """
    return evaluate("xlog1py", _xlog1py, x, y, complex=True)


@differentiable(lambda out, x: dnp.where(x < 0, 0.0, -1.0 - lax.log(dnp.where(x < 0, 1.0, x))))
def _entr(x: Any) -> Any:
    return dnp.where(x < 0, -np.inf, -_xlogy(x, x) + 0.0)


@fused()
def entr(x: ArrayLike) -> Array:
    """The entropy ``-x * log(x)``: 0 at 0, minus infinity for negative ``x``.

    Its derivative is ``-1 - log(x)``, infinite at 0, and 0 for negative ``x``.
    """
    return evaluate("entr", _entr, x)


def _safe(p: Any, q: Any) -> tuple[Any, Any, Any]:
    """A mask where both are positive, and both, replaced by 1 where it is false."""
    both = dnp.logical_and(p > 0, q > 0)
    return both, dnp.where(both, p, 1.0), dnp.where(both, q, 1.0)


def _log_ratio(p: Any, q: Any) -> Any:
    """``log(p / q)`` of positive numbers: no rounding where they are close, and no overflow."""
    ratio = p / q
    close = dnp.logical_and(ratio > 0.55, ratio < 1.8)
    far = dnp.logical_or(ratio < 1e-30, ratio > 1e30)
    log = dnp.where(far, lax.log(p) - lax.log(q), lax.log(dnp.where(far, 1.0, ratio)))
    return dnp.where(close, log1p(dnp.where(close, p - q, 0.0) / q), log)


def _rel_entr_dp(out: Any, p: Any, q: Any) -> Any:
    both, p, q = _safe(p, q)
    return dnp.where(both, _log_ratio(p, q) + 1.0, 0.0)


def _rel_entr_dq(out: Any, p: Any, q: Any) -> Any:
    both, p, q = _safe(p, q)
    return dnp.where(both, -p / q, 0.0)


def _bounded(p: Any, q: Any, inside: Any, at_zero: Any) -> Any:
    """``inside`` for positive arguments, ``at_zero`` for p = 0, else infinity or NaN."""
    limit = dnp.where(dnp.logical_and(p == 0, q >= 0), at_zero, np.inf)
    limit = dnp.where(dnp.logical_or(p != p, q != q), np.nan, limit)
    return dnp.where(dnp.logical_and(p > 0, q > 0), inside, limit)


@differentiable(_rel_entr_dp, _rel_entr_dq)
def _rel_entr(p: Any, q: Any) -> Any:
    _, sp, sq = _safe(p, q)
    return _bounded(p, q, sp * _log_ratio(sp, sq), 0.0)


@fused()
def rel_entr(p: ArrayLike, q: ArrayLike) -> Array:
    """The relative entropy ``p * log(p / q)`` of positive numbers.

    It is 0 for ``p = 0 <= q``, and infinite elsewhere, where its derivatives are 0.
    """
    return evaluate("rel_entr", _rel_entr, p, q)


def _kl_div_dp(out: Any, p: Any, q: Any) -> Any:
    both, sp, sq = _safe(p, q)
    return dnp.where(
        both, _log_ratio(sp, sq), dnp.where(dnp.logical_and(p == 0, q >= 0), -1.0, 0.0)
    )


def _kl_div_dq(out: Any, p: Any, q: Any) -> Any:
    both, sp, sq = _safe(p, q)
    ratio = sp / sq  # of numbers far apart: the derivative of (q - p)/q would cancel
    near = dnp.logical_and(ratio > 0.5, ratio < 2.0)
    slope = dnp.where(near, (sq - sp) / sq, 1.0 - ratio)
    return dnp.where(both, slope, dnp.where(dnp.logical_and(p == 0, q >= 0), 1.0, 0.0))


@differentiable(_kl_div_dp, _kl_div_dq)
def _kl_div(p: Any, q: Any) -> Any:
    _, sp, sq = _safe(p, q)
    ratio = (sq - sp) / sp
    near = dnp.logical_and(ratio > -0.45, ratio < 0.8)
    inside = sp * -log1pmx(dnp.where(near, ratio, 0.0))
    inside = dnp.where(near, inside, sp * _log_ratio(sp, sq) - sp + sq)
    return _bounded(p, q, inside, q)


@fused()
def kl_div(p: ArrayLike, q: ArrayLike) -> Array:
    """The Kullback-Leibler divergence ``p * log(p / q) - p + q`` of positive numbers.

    It is ``q`` for ``p = 0 <= q``, and infinite elsewhere. It is accurate for close arguments, too,
    where the terms cancel.
    """
    return evaluate("kl_div", _kl_div, p, q)
