"""Evaluates a case, a Python expression over ``xp``, with NumPy and with ours, and compares."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import dovetail_numpy as dnp


def _arrays() -> dict[str, np.ndarray[Any, Any]]:
    rng = np.random.default_rng(0)
    normal = lambda *shape: (rng.standard_normal(shape) * 2).astype(np.float32)  # noqa: E731
    return {
        "f0": np.float32(1.25).reshape(()),
        "f1": normal(6),
        "p1": np.abs(normal(6)) + np.float32(0.25),
        "f2": normal(2, 3),
        "g2": normal(2, 3),
        "f3": normal(2, 3, 4),
        "sq": normal(3, 3) + 3 * np.eye(3, dtype=np.float32),
        "i1": rng.integers(-4, 5, 6, np.int32),
        "i2": rng.integers(-4, 5, (2, 3), np.int32),
        "u1": rng.integers(0, 9, 6, np.uint8),
        "b1": np.array([True, False, True, True, False, False]),
        "b2": np.array([[True, False, True], [False, False, True]]),
        "c1": (normal(6) + 1j * normal(6)).astype(np.complex64),
        "c2": (normal(2, 3) + 1j * normal(2, 3)).astype(np.complex64),
        "n1": np.array([1, np.nan, -np.inf, np.inf, 0, -0.0], np.float32),
        "n2": np.array([[1, np.nan, 3], [np.nan, 5, 2]], np.float32),
        "srt": np.array([-1, 0, 0, 2, 3.5, 7], np.float32),
        "empty": np.zeros((0,), np.float32),
    }


ARRAYS = _arrays()
OURS = {name: dnp.asarray(value) for name, value in ARRAYS.items()}


def agree(ours: Any, theirs: Any, tolerance: float = 2e-5) -> None:
    """Assert that two results have one structure, equal kinds of dtypes, shapes and near values."""
    if isinstance(theirs, (tuple, list)):
        assert len(ours) == len(theirs)
        for a, b in zip(ours, theirs):
            agree(a, b, tolerance)
        return
    if not isinstance(theirs, (np.ndarray, np.generic)) and not hasattr(ours, "aval"):
        assert ours == theirs
        return
    value, wanted = np.asarray(ours), np.asarray(theirs)
    assert value.shape == wanted.shape
    if value.dtype == ml_dtypes.bfloat16:
        value = value.astype(np.float32)
    kinds = {value.dtype.kind, wanted.dtype.kind}
    assert len(kinds) == 1 or kinds == {"i", "u"}, f"{value.dtype} instead of {wanted.dtype}"
    np.testing.assert_allclose(value, wanted, rtol=tolerance, atol=tolerance)


def evaluate(case: str, xp: Any, arrays: dict[str, Any]) -> Any:
    """The value of an expression over ``xp`` and the arrays."""
    return eval(case, {"xp": xp, "np": np, **arrays})


@pytest.fixture
def same_as_numpy() -> Callable[..., None]:
    """A function that checks one case against NumPy."""

    def check(case: str, tolerance: float = 2e-5) -> None:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            theirs = evaluate(case, np, ARRAYS)
        agree(evaluate(case, dnp, OURS), theirs, tolerance)

    return check


@pytest.fixture
def arrays() -> dict[str, Any]:
    """Our arrays by name."""
    return OURS


@pytest.fixture
def near() -> Callable[..., None]:
    """The comparison of results."""
    return agree
