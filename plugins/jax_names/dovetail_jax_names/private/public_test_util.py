"""``jax._src.public_test_util``. tinygp (``tinygp.test_utils``): ``check_close``."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from dovetail_core.tree.util import tree_flatten, tree_leaves

from .absent import public

_TOLERANCES = {
    np.dtype(np.float16): 1e-3,
    np.dtype(ml_dtypes.bfloat16): 1e-2,
    np.dtype(np.float32): 1e-6,
    np.dtype(np.complex64): 1e-6,
    np.dtype(np.float64): 1e-15,
    np.dtype(np.complex128): 1e-15,
}


def check_close(
    xs: Any, ys: Any, atol: float | None = None, rtol: float | None = None, err_msg: str = ""
) -> None:
    """Assert that two trees have equal structures and leaves of equal shapes and close values.

    Tolerances are by default those of the less precise of the two element types; integers and
    booleans must be equal.

    Raises:
        AssertionError: they differ.
    """
    structures = tree_flatten(xs)[1], tree_flatten(ys)[1]
    assert structures[0] == structures[1], f"trees differ: {structures[0]} and {structures[1]}"
    for x, y in zip(map(np.asarray, tree_leaves(xs)), map(np.asarray, tree_leaves(ys))):
        assert x.shape == y.shape, f"shapes differ: {x.shape} and {y.shape}"
        own = max(_TOLERANCES.get(v.dtype, 0.0) for v in (x, y))
        both = [v.astype(np.float32) if v.dtype.itemsize < 4 and own else v for v in (x, y)]
        np.testing.assert_allclose(
            *both,
            atol=own if atol is None else atol,
            rtol=own if rtol is None else rtol,
            err_msg=err_msg,
        )


def __getattr__(name: str) -> Any:
    return public("jax._src.public_test_util", name)
