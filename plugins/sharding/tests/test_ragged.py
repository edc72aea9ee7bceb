"""``ragged_all_to_all``: over mapped axes and over those of a mesh."""

from __future__ import annotations

import numpy as np
import pytest

import dovetail as dt
from dovetail import P, lax, shard_map
from dovetail.test_util import check_grads

N, ROWS, SPACE = 4, 6, 9


def _pieces(rng, k=1):
    """Numbers of rows, for each sender and piece, and where they are and go."""
    sizes = rng.integers(0, 3, (N, N * k)).astype(np.int32)
    sizes[:, -1] = np.maximum(0, np.minimum(sizes[:, -1], ROWS - sizes[:, :-1].sum(1)))
    while (sizes.sum(1) > ROWS).any():
        sizes = np.maximum(sizes - 1, 0)
    starts = np.cumsum(sizes, 1) - sizes
    by_receiver = sizes.reshape(N, N, k).swapaxes(0, 1).reshape(N, N * k)
    while (by_receiver.sum(1) > SPACE).any():
        raise AssertionError
    places = np.cumsum(by_receiver, 1) - by_receiver
    theirs = places.reshape(N, N, k).swapaxes(0, 1).reshape(N, N * k)
    return starts.astype(np.int32), sizes, theirs.astype(np.int32), by_receiver


def _wanted(x, out, starts, sizes, places, k):
    out = out.copy()
    for i in range(N):
        for p in range(N * k):
            n, a, b = sizes[i, p], starts[i, p], places[i, p]
            out[p // k, b : b + n] = x[i, a : a + n]
    return out


@pytest.fixture
def line(devices):
    return dt.sharding.Mesh(np.array(devices[:N]), ("x",))


def _on_mesh(line):
    def one(*args):
        return lax.ragged_all_to_all(*[a[0] for a in args], axis_name="x")[None]

    return dt.jit(shard_map(one, mesh=line, in_specs=P("x"), out_specs=P("x")))


@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.parametrize("width", [(), (3,)])
def test_values_and_derivatives(line, k, width):
    rng = np.random.default_rng(k)
    starts, sizes, places, here = _pieces(rng, k)
    x = rng.normal(size=(N, ROWS, *width)).astype(np.float32)
    out = rng.normal(size=(N, SPACE, *width)).astype(np.float32)
    numbers = (starts, sizes, places, here)
    wanted = _wanted(x, out, starts, sizes, places, k)
    over = dt.vmap(lambda *a: lax.ragged_all_to_all(*a, axis_name="x"), axis_name="x")
    for f in (_on_mesh(line), over, dt.jit(over)):
        np.testing.assert_array_equal(f(x, out, *numbers), wanted)
    f = _on_mesh(line)
    check_grads(lambda x, out: f(x, out, *numbers), (x, out), 1, atol=1e-2, rtol=1e-2)
    slopes = [
        dt.grad(lambda x, out, g=g: (g(x, out, *numbers) ** 2).sum(), (0, 1))(x, out)
        for g in (f, over)
    ]
    for a, b in zip(*slopes):
        np.testing.assert_allclose(a, b, rtol=1e-5)
    rows = np.stack([x, 2 * x])
    mapped = dt.vmap(lambda x: f(x, out, *numbers))(rows)
    np.testing.assert_array_equal(mapped[1], _wanted(2 * x, out, starts, sizes, places, k))


def test_lowering_for_gpus(line):
    numbers = [np.zeros((N, N), np.int32)] * 4
    args = (np.ones((N, ROWS), np.float32), np.ones((N, SPACE), np.float32), *numbers)
    text = _on_mesh(line).trace(*args).lower(lowering_platforms=("cuda",)).as_text()
    assert "stablehlo.custom_call @ragged_all_to_all(" in text and "api_version = 4" in text
    assert "replica_groups = dense<[[0, 1, 2, 3]]>" in text


def test_bad_input(line):
    numbers = [np.zeros((N, N), np.int32)] * 4
    x, out = np.ones((N, ROWS), np.float32), np.ones((N, SPACE), np.float32)
    f = _on_mesh(line)
    for args, error, text in (
        ((x, out.astype(np.int32), *numbers), TypeError, "operand has type f32.* and output i32"),
        ((x, out[:, :, None], *numbers), ValueError, "they are rows of one shape"),
        ((x, out, numbers[0] + 0.5, *numbers[1:]), ValueError, "input_offsets has type f32"),
        ((x, out, numbers[0][:, :3], *numbers[1:]), ValueError, "as the axis has positions, 4"),
        ((x, out, *numbers[:3], np.zeros((N, 8), int)), ValueError, "sizes have the shapes"),
    ):
        with pytest.raises(error, match=text):
            f(*args)
    with pytest.raises(NameError, match="axis name 'z' is not bound here"):
        lax.ragged_all_to_all(x[0], out[0], *[n[0] for n in numbers], axis_name="z")
