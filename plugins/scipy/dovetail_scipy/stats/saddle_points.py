"""Poisson's and the binomial probabilities, with real numbers for counts, without cancellation.

Their logarithms are small differences of large numbers where counts are large. Loader ("Fast and
accurate computation of binomial probabilities", 2000) writes them by deviances, which are accurate,
and by the remainders of Stirling's formula for the factorials. Densities of the gamma and the beta
distribution are such probabilities, too.
"""

from __future__ import annotations

from math import log, pi
from typing import Any

import dovetail_lax as lax
import dovetail_numpy as dnp

from ..special import gammaln, kl_div, xlog1py, xlogy
from ..special.gamma_family.gamma_functions import stirling_rest

SMALL = 10.0
"""The count from which factorials are replaced by Stirling's formula."""


def log_poisson(k: Any, mean: Any) -> Any:
    """``k log(mean) - mean - log k!``, of real ``k >= 0``."""
    large = k >= SMALL
    n = dnp.where(large, k, SMALL)
    exact = xlogy(dnp.where(large, 0.0, k), mean) - mean - gammaln(k + 1.0)
    return dnp.where(large, -stirling_rest(n) - kl_div(n, mean) - 0.5 * lax.log(2 * pi * n), exact)


def log_binomial(k: Any, n: Any, p: Any) -> Any:
    """``log(n! / (k! (n - k)!)) + k log(p) + (n - k) log(1 - p)``, of real ``0 <= k <= n``."""
    none, all = k == 0, k == n
    edge = none | all
    hits, total = dnp.where(edge, 1.0, k), dnp.where(edge, 2.0, n)
    misses = total - hits
    stirling = stirling_error(total) - stirling_error(hits) - stirling_error(misses)
    deviance = kl_div(hits, total * p) + kl_div(misses, total * (1.0 - p))
    spread = 0.5 * (lax.log(hits) + lax.log(misses / total) + log(2 * pi))
    # Terms that are not selected have the derivative 0, also at p = 0 and 1.
    fails, succeeds = dnp.where(none, n, 0.0), dnp.where(none, 0.0, n)
    ends = dnp.where(none, xlog1py(fails, -p), xlogy(succeeds, p))
    return dnp.where(edge, ends, stirling - deviance - spread)


def stirling_error(k: Any) -> Any:
    """``log k!`` less Stirling's ``(k + 1/2) log(k) - k + log(2 pi) / 2``, for ``k > 0``."""
    large = k >= SMALL
    small = dnp.where(large, 1.0, k)
    exact = gammaln(small + 1.0) - (small + 0.5) * lax.log(small) + small - 0.5 * log(2 * pi)
    return dnp.where(large, stirling_rest(k), exact)
