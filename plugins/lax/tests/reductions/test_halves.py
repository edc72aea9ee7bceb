"""Sums of 16-bit numbers can be forbidden."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_batching import vmap
from dovetail_core import config
from dovetail_jit import jit
from dovetail_lax.monoids import allow_f16_reductions


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_sums_as_they_are_are_refused(dtype: Any) -> None:
    x = np.ones(4, dtype)
    f = jit(lambda x: lax.reduce_sum(x, (0,)))
    assert float(f(x)) == 4
    message = r"a sum of b?f16\[4\] at .*test_halves.*allow_f16_reductions=False.*numpy.sum, which"
    with allow_f16_reductions(False):
        for call in (lambda: f(x), lambda: lax.reduce_sum(x, (0,))):
            with pytest.raises(ValueError, match=message):
                call()
        with pytest.raises(ValueError, match=message):
            vmap(lambda v: v, 0, None, sum_match=True)(x)
        assert float(dnp.sum(x)) == 4 and dnp.mean(x).dtype == dtype
        assert float(lax.reduce_sum(x.astype(np.float32), (0,))) == 4
        assert float(lax.reduce_max(x, (0,))) == 1
    assert float(f(x)) == float(lax.reduce_sum(x, (0,))) == 4


def test_the_option_is_one_of_the_configuration() -> None:
    with pytest.raises(ValueError, match="option 'allow_f16_reductions': expected a boolean"):
        config.update("jax_allow_f16_reductions", "perhaps")
