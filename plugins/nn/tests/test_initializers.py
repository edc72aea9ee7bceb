"""Initializers: variances, orthogonality, and messages."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dovetail_random as random
from dovetail_jit import jit
from dovetail_nn import initializers

KEY = random.key(7)


@pytest.mark.parametrize("distribution", ["normal", "uniform", "truncated_normal"])
@pytest.mark.parametrize(
    ("mode", "fan"), [("fan_in", 200), ("fan_out", 50), ("fan_avg", 125), ("fan_geo_avg", 100)]
)
def test_variance(distribution: str, mode: str, fan: int) -> None:
    """The variance is scale / fan for every distribution, real and complex."""
    init = initializers.variance_scaling(3.0, mode, distribution)
    for dtype in ("float32", "complex64"):
        x = np.asarray(init(KEY, (200, 50), dtype))
        np.testing.assert_allclose((abs(x) ** 2).mean(), 3.0 / fan, rtol=0.05)
        assert abs(x.mean()) < 0.02


def test_fans_count_receptive_fields() -> None:
    """Axes that are neither inputs nor outputs multiply both; batch axes count for neither."""
    he = initializers.he_normal()
    np.testing.assert_allclose(np.asarray(he(KEY, (3, 3, 40, 60))).var(), 2 / (9 * 40), rtol=0.1)
    batched = initializers.lecun_normal(in_axis=1, out_axis=2, batch_axis=0)
    np.testing.assert_allclose(np.asarray(batched(KEY, (5, 40, 60))).var(), 1 / 40, rtol=0.1)


def test_plain_initializers() -> None:
    """Constants and distributions; dtypes by default and by argument."""
    assert np.asarray(initializers.zeros(KEY, (2,))).tolist() == [0, 0]
    assert initializers.ones(KEY, (2,), "bfloat16").dtype == "bfloat16"
    assert np.asarray(initializers.constant(3, int)(KEY, (2,))).tolist() == [3, 3]
    u = np.asarray(initializers.uniform(0.5)(KEY, (5000,)))
    assert u.min() >= 0 and 0.49 < u.max() < 0.5
    n = np.asarray(initializers.normal(0.5, "bfloat16")(KEY, (5000,))).astype(np.float32)
    np.testing.assert_allclose(n.std(), 0.5, rtol=0.05)
    t = np.asarray(initializers.truncated_normal(2.0)(KEY, (5000,)))
    assert abs(t).max() <= 4
    assert isinstance(initializers.normal(), initializers.Initializer)


@pytest.mark.parametrize("shape", [(5, 3), (3, 5), (2, 3, 4)])
@pytest.mark.parametrize("axis", [-1, 0])
def test_orthogonal(shape: Any, axis: int) -> None:
    """Columns are orthogonal, or rows where there are fewer of them."""
    x = np.asarray(initializers.orthogonal(2.0, axis)(KEY, shape))
    assert x.shape == shape
    m = np.moveaxis(x, axis, 0).reshape(shape[axis], -1)
    gram = m @ m.T if m.shape[0] <= m.shape[1] else m.T @ m
    np.testing.assert_allclose(gram, 4 * np.eye(len(gram)), atol=1e-5)


def test_square_orthogonal_matrices_are_those_of_random() -> None:
    """Along either axis, as JAX has it."""
    q = np.asarray(random.orthogonal(KEY, 3))
    np.testing.assert_array_equal(initializers.orthogonal()(KEY, (3, 3)), q)
    np.testing.assert_array_equal(initializers.orthogonal(column_axis=0)(KEY, (3, 3)), q.T)


def test_delta_orthogonal() -> None:
    """Zero but at the centre, where it is orthogonal."""
    x = np.array(initializers.delta_orthogonal()(KEY, (3, 4, 2, 5)))
    np.testing.assert_allclose(x[1, 1] @ x[1, 1].T, np.eye(2), atol=1e-6)
    x[1, 1] = 0
    assert not x.any()


def test_jit() -> None:
    """Initializers compile."""
    init = initializers.glorot_uniform()
    np.testing.assert_allclose(jit(lambda k: init(k, (3, 4)))(KEY), init(KEY, (3, 4)), rtol=1e-6)


ERRORS: list[tuple[Any, type[Exception], str]] = [
    (
        lambda: initializers.variance_scaling(1.0, "x", "normal")(KEY, (2, 3)),
        ValueError,
        "mode must be one of 'fan_in', .* got 'x'",
    ),
    (
        lambda: initializers.variance_scaling(1.0, "fan_in", "x")(KEY, (2, 3)),
        ValueError,
        "distribution must be one of .* got 'x'",
    ),
    (
        lambda: initializers.he_normal()(KEY, (3,)),
        ValueError,
        r"needs a shape of two dimensions or more, got \(3,\).*Give the axis",
    ),
    (
        lambda: initializers.orthogonal()(KEY, (3,)),
        ValueError,
        "orthogonal initializer needs a shape of two dimensions or more",
    ),
    (
        lambda: initializers.delta_orthogonal()(KEY, (3, 3)),
        ValueError,
        "needs a shape of 3, 4 or 5 dimensions",
    ),
    (
        lambda: initializers.delta_orthogonal()(KEY, (3, 3, 2)),
        ValueError,
        r"at least as many outputs .* got shape \(3, 3, 2\)",
    ),
    (
        lambda: initializers.uniform(dtype=int)(KEY, (3,)),
        ValueError,
        "uniform: dtype must be a float dtype, got int32",
    ),
    (
        lambda: initializers.zeros(KEY, (3,), None, object()),
        TypeError,
        "out_sharding must be a device or a sharding, got <object",
    ),
]


@pytest.mark.parametrize(("call", "error", "text"), ERRORS)
def test_message(call: Any, error: type[Exception], text: str) -> None:
    """Each bad argument has its message."""
    with pytest.raises(error, match=text):
        call()


@pytest.mark.parametrize("shape", [(5, 3), (4, 4)])
def test_complex_orthogonal_matrices_have_the_phases_that_were_drawn(
    shape: tuple[int, int],
) -> None:
    key = random.key(1)
    result = initializers.orthogonal()(key, shape, np.complex64)
    drawn = random.orthogonal(key, shape[0], (), np.complex64, shape[1])
    np.testing.assert_allclose(result, drawn, rtol=1e-6)
