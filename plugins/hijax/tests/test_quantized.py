"""The quantised array of the examples, through every transformation."""

from __future__ import annotations

import numpy as np
import pytest

import dovetail
import dovetail.numpy as dnp
from dovetail import lax
from dovetail.hijax import lower_to_lo

X = np.linspace(-1, 1, 12, dtype=np.float32).reshape(4, 3)
W = np.array([[1.0, -2.0], [0.5, 0.25], [-1.0, 3.0]], np.float32)


@pytest.fixture
def q(quantized):
    return quantized.quantize(W)


def near(a, b, tolerance=1e-5):
    np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=tolerance, atol=tolerance)


def dense(q):
    return np.asarray(q.values, np.float32) * np.asarray(q.scales)[..., None]


def test_values_are_those_of_rounding(quantized, q):
    assert q.values.dtype == np.int8 and q.scales.shape == (3,)
    assert np.abs(dense(q) - W).max() <= np.abs(W).max(1).max() / 127 / 2 + 1e-6
    near(quantized.dequantize(q), dense(q))


def test_argument_and_result_of_jit(quantized, q):
    twice = dovetail.jit(lambda q: quantized.quantize(2 * quantized.dequantize(q)))
    again = twice(twice(q))
    assert type(again) is quantized.Quantized
    near(dense(again), 4 * dense(q))


def test_inside_of_jit_only(quantized):
    f = dovetail.jit(lambda x: quantized.dequantize(quantized.quantize(x)))
    near(f(W), dense(quantized.quantize(W)))


def test_closed_over(quantized, q):
    near(dovetail.jit(lambda x: x @ quantized.dequantize(q))(X), X @ dense(q))


def test_the_program_is_high_and_its_lowering_is_not(quantized, q):
    ir = dovetail.make_jaxpr(lambda q, x: x @ quantized.dequantize(q))(q, X)
    assert ir.is_high and "q8[3,2]" in str(ir)
    low = lower_to_lo(ir)
    assert not low.is_high and [a.str_short() for a in low.in_avals] == [
        "i8[3,2]", "f32[3]", "f32[4,3]"
    ]  # fmt: skip
    assert lower_to_lo(ir) is low
    assert not dovetail.make_jaxpr(lambda x: x * 2)(X).is_high


@pytest.mark.parametrize("wrap", [lambda f: f, dovetail.jit, dovetail.remat])
def test_the_gradient_is_that_of_the_numbers(quantized, q, wrap):
    def loss(q, x):
        return ((x @ quantized.dequantize(q)) ** 2).sum()

    result = dovetail.grad(wrap(loss))(q, X)
    near(result, 2 * X.T @ (X @ dense(q)), 1e-4)
    _, tangent = dovetail.jvp(lambda q: wrap(loss)(q, X), (q,), (np.ones_like(W),))
    near(tangent, result.sum(), 1e-3)
    near(dovetail.jit(dovetail.grad(wrap(loss)))(q, X), result, 1e-4)


def test_straight_through(quantized):
    def f(w):
        return (quantized.dequantize(quantized.quantize(w)) * W).sum()

    near(dovetail.grad(f)(W), W)
    near(dovetail.grad(dovetail.jit(f))(W), W)


def test_a_carry_of_scan(quantized, q):
    def step(q, x):
        w = quantized.dequantize(q)
        return quantized.quantize(w + x), w.sum()

    last, sums = lax.scan(step, q, dnp.ones(3))
    near(dense(last), dense(q) + 3, 0.1)
    near(sums, [W.sum() + 6 * i for i in range(3)], 0.2)


def test_slices_and_stacked_results_of_scan(quantized):
    stack = quantized.quantize(np.stack([W, 2 * W, 3 * W]))

    def step(c, q):
        return c + quantized.dequantize(q), quantized.quantize(quantized.dequantize(q) * 2)

    total, doubled = lax.scan(step, dnp.zeros((3, 2)), stack)
    near(total, dense(stack).sum(0))
    near(dense(doubled), 2 * dense(stack))
    grad = dovetail.grad(lambda s: (lax.scan(step, dnp.zeros((3, 2)), s)[0] ** 2).sum())(stack)
    near(grad, np.broadcast_to(2 * dense(stack).sum(0), (3, 3, 2)), 1e-4)


@pytest.mark.parametrize("flag", [True, False])
def test_branches(quantized, q, flag):
    def f(flag, q):
        return lax.cond(flag, lambda q: q, lambda q: quantized.quantize(dnp.ones((3, 2))), q)

    near(dense(f(flag, q)), dense(q) if flag else np.ones((3, 2)))
    near(dense(dovetail.jit(f)(flag, q)), dense(q) if flag else np.ones((3, 2)))


def test_a_while_loop(quantized, q):
    def f(q):
        return lax.while_loop(
            lambda c: c[0] < 3,
            lambda c: (c[0] + 1, quantized.quantize(2 * quantized.dequantize(c[1]))),
            (0, q),
        )[1]

    near(dense(f(q)), 8 * dense(q))
    near(dense(dovetail.jit(f)(q)), 8 * dense(q))


def test_vmap_over_a_spec(quantized):
    stack = quantized.quantize(np.stack([W, 2 * W]))

    def f(q, x):
        return x @ quantized.dequantize(q), quantized.quantize(x)

    out, again = dovetail.vmap(f, in_axes=(0, None))(stack, X)
    near(out, X @ dense(stack))
    assert again.values.shape == (2, 4, 3)
    ys = dovetail.vmap(f, in_axes=(None, 0))(quantized.quantize(W), np.stack([X, X]))[0]
    near(ys, np.stack([X @ dense(quantized.quantize(W))] * 2))
    other = dovetail.vmap(lambda q: q, in_axes=0, out_axes=1)(stack)
    near(dense(other), dense(stack).swapaxes(0, 1))


def test_vmap_of_loops_and_mapped_predicates(quantized):
    stack = quantized.quantize(np.stack([W, 2 * W]))

    def loop(q):
        def step(q, _):
            return quantized.quantize(2 * quantized.dequantize(q)), q

        return lax.scan(step, q, None, length=2)

    last, all_of_them = dovetail.vmap(loop)(stack)
    near(dense(last), 4 * dense(stack))
    assert all_of_them.values.shape == (2, 2, 3, 2)

    def branch(flag, q):
        return lax.cond(flag, lambda q: q, lambda q: quantized.quantize(dnp.ones((3, 2))), q)

    chosen = dovetail.vmap(branch)(np.array([True, False]), stack)
    near(dense(chosen), np.stack([dense(stack)[0], np.ones((3, 2))]))


def test_stages(quantized, q):
    stage = dovetail.jit(lambda q, x: (x @ quantized.dequantize(q), q)).lower(q, X)
    assert stage.out_info[0].shape == (4, 2)
    assert stage.out_info[1] == quantized.QuantizedType((3, 2))
    out, same = stage.compile()(q, X)
    near(out, X @ dense(q))
    near(dense(same), dense(q))
    with pytest.raises(TypeError, match=r"takes q8\[3,2\] as leaf 0 of its arguments, got f32"):
        stage.compile()(W, X)


def test_an_example_that_runs(quantized, capsys):
    quantized.main()
    assert "of int8 weights" in capsys.readouterr().out


def test_lowered_arguments_are_named_after_the_high_ones(quantized, q):
    stage = dovetail.jit(lambda weights, x, *, unused=0: x["a"] @ quantized.dequantize(weights))
    lowered = stage.lower(q, {"a": X}, unused=1.0)
    assert lowered.arg_names == ["weights.0", "weights.1", "x['a']"]
    text = lowered.as_text(debug_info=True)
    for name, type in (("weights.0", "3x2xi8"), ("weights.1", "3xf32"), ("x['a']", "4x3xf32")):
        assert f'tensor<{type}> loc("{name}")' in text or f'loc("{name}")' in text
    assert "loc(" not in lowered.as_text()
    static = dovetail.jit(lambda n, q: quantized.dequantize(q) * n, static_argnums=0)
    assert static.lower(2, q).arg_names == ["q.0", "q.1"]


def test_a_sharding_spec_of_a_high_value(quantized, q):
    class Replicated(dovetail.hijax.HiPspec):
        def to_lo(self):
            return (dovetail.devices()[0],) * 2

    spec = Replicated()
    assert spec.to_ct_spec() is spec and spec.device_set == {dovetail.devices()[0]}
    result = dovetail.jit(lambda q: quantized.dequantize(q), in_shardings=(spec,))(q)
    near(result, dense(q))
    assert result.devices() == {dovetail.devices()[0]}
    with pytest.raises(
        NotImplementedError, match=r"HiPspec .* has no method to_lo, which is needed"
    ):
        dovetail.jit(lambda q: q, in_shardings=dovetail.hijax.HiPspec())


def test_calls_are_traced_and_compiled_once(quantized, q):
    count = []

    def f(q):
        count.append(q)
        return quantized.quantize(quantized.dequantize(q))

    call = dovetail.jit(f, donate_argnums=0)
    once = call(q)
    again = call(once)
    assert len(count) == 1 and q.values.is_deleted() and once.scales.is_deleted()
    near(dense(again), quantized.dequantize(again))


def test_operations_on_arrays_refuse_high_values(quantized, q):
    for wrap in (dovetail.jit, dovetail.grad):
        message = (
            r"asks for the (dtype|shape) of a value of the high type QuantizedType at .*test_quan"
        )
        with pytest.raises(AttributeError, match=message):
            wrap(lambda q: lax.add(q, q))(q)
        with pytest.raises(TypeError, match=r"Traced<q8\[3,2\]> under .* has no operator __add__"):
            wrap(lambda q: q + 1)(q)
