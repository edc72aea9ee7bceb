"""The library's own code runs under every setting: options of promotion, checks and leak checks are
about users' programs, and no public function fails under them that runs without."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dovetail
import dovetail.numpy as dnp

sys.path.insert(0, str(Path(__file__).parents[1]))

from differential.__main__ import AREAS, calls
from differential.evaluation import gradient, names_of
from torture.inputs.evaluation import evaluate

from dovetail_lax.promotion import TypePromotionError

MIXING = {  # the call itself mixes element types
    "dv.vmap(lambda q: q + lax.axis_index('i'), axis_name='i')(v)",
    "jnp.promote_types('int32', 'float32')",
    "sp.polygamma(i, w)",
    "sp.expn(i, w)",
    "st.poisson.cdf(i, w)",
    "st.bernoulli.logpmf(i, 0.5)",
    "st.binom.logpmf(i, 5, 0.5)",
    "st.nbinom.logpmf(i, 5, 0.5)",
    "st.betabinom.logpmf(i, 5, 1.0, 2.0)",
}
STEP = 1 if os.environ.get("DOVETAIL_TEST_FULL") == "1" else 16
CALLS = [text for _, text in calls((*AREAS, "scipy")) if text not in MIXING][::STEP]


def settings() -> ExitStack:
    stack = ExitStack()
    stack.enter_context(dovetail.numpy_rank_promotion("raise"))
    stack.enter_context(dovetail.numpy_dtype_promotion("strict"))
    stack.enter_context(dovetail.checking_leaks())
    stack.enter_context(dovetail.enable_checks(True))
    return stack


@pytest.fixture(scope="module")
def names() -> Iterator[dict[str, Any]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield names_of("dovetail")


@pytest.mark.parametrize("text", CALLS)
def test_functions_run_as_without(text: str, names: dict[str, Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for f in (evaluate, gradient):
            try:
                f(text, names)
            except Exception:  # it does not run without, or has no gradient
                continue
            with settings():
                f(text, names)


def functions() -> dict[str, Any]:
    """Functions that promote values of their own, and whose arguments above are too small."""
    import dovetail.scipy.fft as fft
    import dovetail.scipy.linalg as linalg
    import dovetail.scipy.signal as signal
    import dovetail.scipy.sparse.linalg as solvers
    import dovetail.scipy.special as special
    from dovetail import random
    from dovetail.experimental.sparse.linalg import lobpcg_standard
    from dovetail.scipy.spatial.transform import Rotation

    z = dnp.ones(2, "complex64")
    a = dnp.eye(2, dtype="complex64")
    return {
        "lobpcg": lambda: lobpcg_standard(dnp.diag(dnp.arange(1.0, 101.0)), dnp.eye(100, 4), m=20),
        "draws": lambda: random.multivariate_normal(random.key(0), z.real, a.real, shape=(3,)),
        "dctn": lambda: fft.dctn(dnp.ones((2, 5))),
        "idctn": lambda: fft.idctn(dnp.ones((2, 5))),
        "stft": lambda: signal.stft(dnp.ones(300)),
        "istft": lambda: signal.istft(dnp.ones((65, 24), "complex64")),
        "welch": lambda: signal.welch(dnp.ones(300)),
        "csd": lambda: signal.csd(dnp.ones(300), dnp.ones(300)),
        "rotations": lambda: Rotation.from_quat(dnp.ones((2, 4))).inv(),
        "outer": lambda: dnp.bitwise_or.outer(dnp.ones((4, 3), int), dnp.ones(4, int)),
        "sqrtm": lambda: linalg.sqrtm(dnp.eye(2)),
        "rsf2csf": lambda: linalg.rsf2csf(dnp.eye(2), dnp.eye(2)),
        "logsumexp": lambda: special.logsumexp(z, b=z),
        "cg": lambda: solvers.cg(a, z),
        "gmres": lambda: solvers.gmres(a, z),
        "bicgstab": lambda: solvers.bicgstab(a, z),
        "at": lambda: dnp.arange(4).at[0].set(False),
    }


@pytest.mark.parametrize("name", functions())
def test_functions_promote_their_own_values(name: str) -> None:
    with settings():
        result = functions()[name]()
    leaves = [x for x in dovetail.tree.leaves(result) if hasattr(x, "dtype")]
    assert leaves and all(np.isfinite(np.asarray(x)).all() for x in leaves)


def test_users_are_told_of_their_own_promotions() -> None:
    x, y = dnp.ones((2, 3)), dnp.ones(3)
    from dovetail.scipy import special

    with dovetail.numpy_rank_promotion("raise"):
        for f in (dnp.add, dnp.hypot, special.xlogy, lambda x, y: x * y):
            with pytest.raises(ValueError, match="different numbers of axes"):
                f(x, y)
    with dovetail.numpy_dtype_promotion("strict"):
        for f in (dnp.add, dnp.hypot, special.xlogy, lambda x, y: x * y):
            with pytest.raises(TypePromotionError, match="'strict' allows none"):
                f(y, y.astype(int))
        # A function that a library function calls is the user's.
        with pytest.raises(TypePromotionError, match="'strict' allows none"):
            special.logsumexp(dovetail.vmap(lambda v: v + dnp.arange(3))(x))
