"""A sample of the sweep: derivatives over the whole range of numbers are off by few roundings."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dovetail
import dovetail.lax
import dovetail.nn
import dovetail.numpy
import dovetail.scipy.special
from dovetail_core import enable_x64

from . import sweep

POINTS = 16
PARTS = 6
SAMPLE = [
    *sweep.ELEMENTARY, *sweep.ACTIVATIONS, "numpy.i0(x)", "special.i1(x)", "special.erf(x)",
    "special.ndtr(x)", "special.ndtri(x)", "special.erfinv(x)", "special.log_ndtr(x)",
    "special.gammaln(x)", "special.digamma(x)", "special.kl_div(2.0, x)", "lax.bessel_i0e(x)",
    "lax.bessel_i1e(x)", "lax.erf_inv(x)", "special.dawsn(x)", "numpy.linalg.cholesky(x)",
    "numpy.triu(lax.linalg.lu(x)[0])", "numpy.linalg.det(x)", "numpy.linalg.norm(x)",
    "numpy.linalg.norm(x.ravel(), 3)", "numpy.linalg.eigvalsh(x)",
]  # fmt: skip
MODES = (1, 3)  # reverse mode, and forward over reverse


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("part", range(PARTS))
def test_derivatives_are_off_by_few_roundings(dtype: Any, part: int) -> None:
    names = SAMPLE[part::PARTS]
    with enable_x64(True):
        points = {name: sweep.CASES[name].places(dtype, POINTS) for name in names}

        def all_of_them(points: dict[str, Any]) -> dict[str, list[Any]]:
            ways = {n: sweep.CASES[n].ways(dovetail, n) for n in names}
            return {n: [ways[n][mode](points[n]) for mode in MODES] for n in names}

        result = dovetail.jit(all_of_them)(points)
    for name in names:
        wanted = zip(*sweep.CASES[name].exact_at(points[name]))
        most = sweep.BEYOND.get(name, (sweep.CASES[name].most,))[0]
        for got, want, order in zip(result[name], wanted, ("first", "second")):
            off = np.nan_to_num(sweep.roundings(np.asarray(got), want))
            worst = int(np.argmax(off))
            assert off[worst] <= most, (name, order, points[name][worst], off[worst])
