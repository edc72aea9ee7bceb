"""Every transformation once, alone and together, and the caches of compilation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dovetail
import dovetail.lax as lax
import dovetail.nn as nn
import dovetail.numpy as dnp
from dovetail.test_util import check_grads

X = np.linspace(0.1, 1.0, 4, dtype=np.float32)
ROWS = np.linspace(-1, 1.3, 12, dtype=np.float32).reshape(3, 4)


def loss(p: Any, x: Any) -> Any:
    hidden = nn.relu(x @ p["w"] + p["b"])
    return dnp.mean(dnp.tanh(hidden) ** 2)


def test_jit_stages_and_call() -> None:
    f = dovetail.jit(lambda x, n: dnp.sin(x) * n, static_argnums=1)
    for _ in range(3):
        np.testing.assert_allclose(f(X, 2), np.sin(X) * 2, rtol=1e-6)
    lowered = f.lower(X, 3)
    assert "stablehlo.sine" in lowered.as_text()
    np.testing.assert_allclose(lowered.compile()(X), np.sin(X) * 3, rtol=1e-6)
    assert f.eval_shape(X, 1) == dovetail.ShapeDtypeStruct((4,), np.float32)


def test_gradients() -> None:
    p = {"w": np.eye(4, dtype=np.float32), "b": np.zeros(4, np.float32)}
    value, g = dovetail.jit(dovetail.value_and_grad(loss))(p, ROWS)
    np.testing.assert_allclose(value, np.mean(np.tanh(np.maximum(ROWS, 0)) ** 2), rtol=1e-5)
    assert g["w"].shape == (4, 4) and np.all(np.isfinite(g["b"]))
    check_grads(lambda x: dnp.sin(x) / (1 + x * x), (X,), 2)
    h = dovetail.hessian(lambda x: dnp.sum(x**3))(X)
    np.testing.assert_allclose(h, np.diag(6 * X), rtol=1e-5)


def test_vmap_and_collectives() -> None:
    result = dovetail.vmap(lambda x: x / lax.psum(x, "i"), axis_name="i")(ROWS + 2)
    np.testing.assert_allclose(result, (ROWS + 2) / (ROWS + 2).sum(0), rtol=1e-6)
    outer = dovetail.vmap(dovetail.vmap(lambda a, b: a * b, (None, 0)), (0, None))(X, X)
    np.testing.assert_allclose(outer, np.outer(X, X), rtol=1e-6)


def test_loops_and_branches_differentiate_and_batch() -> None:
    def f(x: Any) -> Any:
        def step(c: Any, t: Any) -> Any:
            c = lax.cond(c.sum() > 0, lambda v: dnp.sin(v) * t, lambda v: v - t, c)
            return c, c.sum()

        c, ys = lax.scan(step, x, dnp.arange(3.0))
        n = lax.while_loop(lambda s: s < 3, lambda s: s + 1, 0)
        return c.sum() + ys.sum() * n

    g = dovetail.jit(dovetail.vmap(dovetail.grad(f)))(ROWS)
    eps = 1e-2
    for row, gradient in zip(ROWS, np.asarray(g)):
        numeric = [(f(row + eps * e) - f(row - eps * e)) / (2 * eps) for e in np.eye(4)]
        np.testing.assert_allclose(gradient, np.asarray(numeric, np.float32), atol=2e-2)


def test_checkpointed_functions_have_the_same_gradient() -> None:
    f = lambda x: dnp.sum(dnp.sin(dnp.exp(x)))  # noqa: E731
    result = dovetail.grad(dovetail.checkpoint(f))(X)
    np.testing.assert_allclose(result, dovetail.grad(f)(X), rtol=1e-6)


def test_the_reference_backend_agrees() -> None:
    f = lambda x: dnp.cumsum(dnp.sort(dnp.sin(x)))  # noqa: E731
    result = dovetail.jit(f, backend="reference")(X)
    np.testing.assert_allclose(result, dovetail.jit(f)(X), rtol=1e-6)


def test_the_cache_on_disk(tmp_path: Path) -> None:
    def compiled() -> Any:
        return dovetail.jit(lambda x: dnp.sin(x) * 3).lower(X).compile()

    dovetail.config.update("compilation_cache_dir", str(tmp_path))
    try:
        np.testing.assert_allclose(compiled()(X), np.sin(X) * 3, rtol=1e-6)
        (entry,) = tmp_path.iterdir()
        before = entry.stat().st_ino  # the time is that of the last use
        np.testing.assert_allclose(compiled()(X), np.sin(X) * 3, rtol=1e-6)
        assert entry.stat().st_ino == before
        entry.write_bytes(b"junk")
        with pytest.warns(RuntimeWarning, match="is damaged"):
            np.testing.assert_allclose(compiled()(X), np.sin(X) * 3, rtol=1e-6)
    finally:
        dovetail.config.update("compilation_cache_dir", None)


def test_errors_name_the_place_and_the_remedy() -> None:
    with pytest.raises(TypeError, match=r"traced.*at .*test_transformations\.py.*lax\.cond"):
        dovetail.jit(lambda x: x if x > 0 else -x)(1.0)
    with pytest.raises(TypeError, match=r"args\[0\] at .*'text' of type str is not a valid array"):
        dovetail.jit(lambda x: x)("text")
    with pytest.raises(TypeError, match=r"returned an array of type f32\[4\].*jacrev"):
        dovetail.grad(lambda x: x)(X)
