"""Sliding windows: layouts, general programs, and derivatives that agree at ties, too."""

from __future__ import annotations

import numpy as np
import pytest

import dovetail_lax as lax
from dovetail_ad import jvp, vjp
from dovetail_batching import vmap
from dovetail_jit import jit
from dovetail_testing import assert_close, assert_same, assert_transposes

X = np.random.default_rng(0).normal(size=(5, 7)).astype(np.float32)
LAYOUTS = [
    {"window_dimensions": (2, 3)},
    {"window_dimensions": (2, 3), "window_strides": (1, 2), "padding": "SAME"},
    {"window_dimensions": (2, 2), "window_strides": (2, 1), "padding": "SAME_LOWER"},
    {"window_dimensions": (2, 2), "padding": [(1, 0), (-1, 3)]},
    {"window_dimensions": (2, 2), "base_dilation": (2, 3), "padding": [(0, 1), (2, 0)]},
    {"window_dimensions": (2, 2), "window_dilation": (3, 2), "window_strides": (1, 2)},
]


def windows(x, fill, window_dimensions, window_strides=(1, 1), padding="VALID",
            base_dilation=(1, 1), window_dilation=(1, 1)):  # fmt: skip
    """Each window's elements, by the definition: one index after the other."""
    spread = np.full([(n - 1) * b + 1 for n, b in zip(x.shape, base_dilation)], fill, x.dtype)
    spread[tuple(slice(None, None, b) for b in base_dilation)] = x
    spans = [(w - 1) * d + 1 for w, d in zip(window_dimensions, window_dilation)]
    if isinstance(padding, str):
        padding = lax.padtype_to_pads(spread.shape, spans, window_strides, padding)
    counts = [
        max((n + lo + hi - span) // s + 1, 0)
        for n, (lo, hi), span, s in zip(spread.shape, padding, spans, window_strides)
    ]
    out = np.full((*counts, *window_dimensions), fill, x.dtype)
    for at in np.ndindex(*counts):
        for w in np.ndindex(*window_dimensions):
            p = [i * s + j * d - lo for i, s, j, d, (lo, _) in
                 zip(at, window_strides, w, window_dilation, padding)]  # fmt: skip
            if all(0 <= q < n for q, n in zip(p, spread.shape)):
                out[(*at, *w)] = spread[tuple(p)]
    return out


@pytest.mark.parametrize("layout", LAYOUTS)
def test_windows_are_where_the_definition_says(layout):
    for f, fill, oracle in (
        (lax.add, 0.0, np.sum), (lax.mul, 1.0, np.prod), (lax.max, -np.inf, np.max),
        (lax.min, np.inf, np.min),
    ):  # fmt: skip
        expected = oracle(windows(X, fill, **layout), axis=(2, 3))
        assert_close(lax.reduce_window(X, fill, f, **layout), expected)
        general = lax.reduce_window(X, np.float32(fill), lambda a, b, f=f: f(a, b), **layout)
        assert_close(general, expected)


def test_windows_of_a_tree():
    counts = np.ones(X.shape, np.int32)
    total, count = lax.reduce_window(
        (X, counts), (np.float32(0), np.int32(0)),
        lambda a, b: (lax.add(a[0], b[0]), lax.add(a[1], b[1])), (2, 2), padding="SAME",
    )  # fmt: skip
    assert_close(total, windows(X, 0, (2, 2), padding="SAME").sum((2, 3)))
    assert_same(count, windows(counts, 0, (2, 2), padding="SAME").sum((2, 3)).astype(np.int32))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("f", "fill"), [(lax.add, 0.0), (lax.max, -np.inf), (lax.mul, 1.0)])
def test_derivatives_transpose_each_other_also_at_ties(f, fill, layout):
    x = np.round(X)  # many windows have several largest elements

    def pooled(x):
        return lax.reduce_window(x, fill, f, **layout)

    out, pull = vjp(pooled, x)
    tangent = np.cos(np.arange(35, dtype=np.float32)).reshape(5, 7)
    ct = np.sin(np.arange(np.size(out), dtype=np.float32)).reshape(np.shape(out))
    for run in (lambda g: g, jit):  # compilers decide ties alike, however they optimise
        push = run(lambda t: jvp(pooled, (x,), (t,))[1])
        assert_transposes(lambda t, push=push: [push(t)], pull, [tangent], [ct], 1e-4)


def test_the_first_largest_element_gets_the_gradient():
    x = np.array([1, 1, 2, 2, 2, 1], np.float32)
    (result,) = vjp(lambda x: lax.reduce_window(x, -np.inf, lax.max, (3,), (3,)), x)[1](
        np.array([5, 7], np.float32)
    )
    assert np.asarray(result).tolist() == [0, 0, 5, 7, 0, 0]


def test_windows_are_batched():
    batch = np.stack([X, -X, X * 2])
    for f, fill in ((lax.add, 0.0), (lax.max, -np.inf)):

        def pooled(x, f=f, fill=fill):
            return lax.reduce_window(x, fill, f, (2, 2), (2, 1), "SAME")

        expected = np.stack([pooled(x) for x in batch])
        assert_close(vmap(pooled, in_axes=1)(batch.swapaxes(0, 1)), expected)
        pulled = np.stack([vjp(pooled, x)[1](np.cos(y))[0] for x, y in zip(batch, expected)])
        assert_close(vmap(lambda x, y: vjp(pooled, x)[1](y)[0])(batch, np.cos(expected)), pulled)
    inits = np.array([1, 2, 3], np.float32)
    result = vmap(lambda x, i: lax.reduce_window(x, i, lambda a, b: lax.mul(a, b), (5, 7)))(
        batch, inits
    )
    assert_close(result, batch.prod((1, 2))[:, None, None] * inits[:, None, None])


def test_shapes_without_arrays():
    assert lax.reduce_window_shape_tuple((5, 7), (2, 3), (2, 2), [(0, 1), (1, 1)]) == (3, 4)
