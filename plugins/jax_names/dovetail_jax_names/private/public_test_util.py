"""``jax._src.public_test_util``. tinygp (``tinygp.test_utils``): ``check_close``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import ml_dtypes
import numpy as np

from dovetail_tree.util import tree_flatten

from ..absent_names import public

_TOLERANCES = {
    np.dtype(np.float16): 1e-3,
    np.dtype(ml_dtypes.bfloat16): 1e-2,
    np.dtype(np.float32): 1e-6,
    np.dtype(np.complex64): 1e-6,
    np.dtype(np.float64): 1e-15,
    np.dtype(np.complex128): 1e-15,
}
_NARROW = (np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16))
Tolerance = float | Mapping[Any, float] | None


def _tolerance(x: Any, y: Any, given: Tolerance) -> float:
    """That of the less precise of two arrays, by element types where these are given."""
    if given is None or isinstance(given, Mapping):
        chosen = _TOLERANCES | {np.dtype(k): t for k, t in (given or {}).items()}
        return max(chosen.get(v.dtype, 0.0) for v in (x, y))
    return given


def check_close(
    xs: Any, ys: Any, atol: Tolerance = None, rtol: Tolerance = None, err_msg: str = ""
) -> None:
    """Assert that two trees have equal structures and leaves of equal shapes and close values.

    Tolerances may be given by element type. By default they are those of the less precise of the
    two element types; integers and booleans must be equal.

    Raises:
        AssertionError: they differ.
    """
    (ours, tree), (theirs, other) = tree_flatten(xs), tree_flatten(ys)
    assert tree == other, f"trees differ: {tree} and {other}"
    for x, y in zip(map(np.asarray, ours), map(np.asarray, theirs)):
        assert x.shape == y.shape, f"shapes differ: {x.shape} and {y.shape}"
        wide = [v.astype(np.float32) if v.dtype in _NARROW else v for v in (x, y)]
        np.testing.assert_allclose(
            *wide, atol=_tolerance(x, y, atol), rtol=_tolerance(x, y, rtol), err_msg=err_msg
        )


def __getattr__(name: str) -> Any:
    return public("jax._src.public_test_util", name)
