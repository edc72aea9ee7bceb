"""Costs of loops, branches, references and transformed functions."""

from __future__ import annotations

import numpy as np
import pytest
from acme_roofline import Machine, roofline

import dovetail
from dovetail import checkpoint, grad, jit, lax, numpy as dnp, value_and_grad, vmap

f32 = np.float32
M = Machine(flops=1e12, bandwidth=1e11, transcendental=10)
W = np.ones((32, 32), f32)
PRODUCT = 2 * 32**3


def total(f, *args, **options):
    return roofline(f, M, **options)(*args).total


def step(x, w):
    return dnp.sin(x) @ w


def test_a_scan_multiplies():
    f = lambda x: lax.scan(lambda x, _: (step(x, W), None), x, None, length=10)[0]  # noqa: E731
    found = total(f, W)
    assert (found.flops, found.transcendentals, found.times) == (10 * PRODUCT, 10 * 32**2, 10)
    assert found.bytes == 10 * 3 * W.nbytes  # each iteration reads two and writes one


def test_nested_scans_multiply():
    inner = lambda x: lax.fori_loop(0, 3, lambda i, x: step(x, W), x)  # noqa: E731
    f = lambda x: lax.scan(lambda x, _: (inner(x), None), x, None, length=5)[0]  # noqa: E731
    assert total(f, W).flops == pytest.approx(15 * PRODUCT, rel=1e-3)


def test_slices_of_a_scan_are_read_once():
    xs = np.ones((6, 32, 32), f32)
    f = lambda xs: lax.scan(lambda c, x: (c, dnp.exp(x)), 0.0, xs)[1]  # noqa: E731
    assert total(f, xs).bytes == 2 * xs.nbytes


def test_a_while_loop_is_counted_once_or_as_often_as_one_says():
    def f(x):
        return lax.while_loop(lambda x: x.sum() > 1, lambda x: step(x, W), x)

    once = roofline(f, M)(W)
    line = f.__code__.co_firstlineno + 1
    assert once.assumed == [f"test_composition.py:{line}"]
    assert f"test_composition.py:{line}: it is not known how often this loop runs" in str(once)
    body = PRODUCT + 32**2 + 1
    assert once.total.flops == pytest.approx(body, rel=1e-3)
    assert total(f, W, trips=7).flops == pytest.approx(7 * body, rel=1e-3)


def test_a_branch_is_the_longest_or_all():
    def f(x):
        return lax.cond(x[0, 0] > 0, lambda x: step(x, W), lambda x: x @ W @ W, x)

    assert total(f, W).flops == pytest.approx(2 * PRODUCT, rel=1e-3)
    assert total(f, W, branches="all").flops == pytest.approx(3 * PRODUCT, rel=1e-3)
    with pytest.raises(ValueError, match="branches is 'max' or 'all', got 'min'"):
        roofline(f, M, branches="min")


def test_what_is_compiled_costs_the_same():
    assert total(jit(step), W, W).flops == total(step, W, W).flops == PRODUCT
    assert total(lambda x: jit(step)(x, W), W).flops == PRODUCT


def test_a_report_of_types_alone():
    kind = dovetail.ShapeDtypeStruct((32, 32), f32)
    assert total(step, kind, kind).flops == PRODUCT


def test_a_mapped_function_costs_as_much_for_each():
    each = total(vmap(step, in_axes=(0, None)), np.ones((9, 32, 32), f32), W)
    assert (each.flops, each.transcendentals) == (9 * PRODUCT, 9 * 32**2)


def test_a_gradient_of_a_scan_is_of_the_lines_of_its_body():
    def body(x, w):
        y = dnp.tanh(x)
        return y @ w, None

    def loss(ws, x):
        y, _ = lax.scan(body, x, ws)
        return dnp.sum(y)

    report = roofline(grad(loss), M)(np.ones((5, 32, 32), f32), W)
    by_line = {e.number: e for e in report.lines}
    line = body.__code__.co_firstlineno
    # Forwards one product; backwards one for the weights and one for what came in.
    assert by_line[line + 2].flops == pytest.approx(5 * 3 * PRODUCT, rel=0.01)
    assert by_line[line + 1].transcendentals == 2 * 5 * 32**2  # tanh, and exp for its slope


def test_what_is_computed_again_counts_again():
    f = lambda x, w: dnp.sum(dnp.sin(dnp.exp(x) @ w))  # noqa: E731
    kept, again = total(value_and_grad(f), W, W), total(value_and_grad(checkpoint(f)), W, W)
    assert again.flops == kept.flops + PRODUCT and again.transcendentals > kept.transcendentals


def test_second_derivatives_and_mapped_gradients():
    f = lambda x: dnp.sum(dnp.tanh(x @ W))  # noqa: E731
    once = total(grad(f), W).flops
    assert total(vmap(grad(f)), np.stack([W] * 4)).flops == pytest.approx(4 * once, rel=0.01)
    # A product forwards and one backwards; both again for the derivative of that.
    assert total(grad(lambda x: dnp.sum(grad(f)(x) ** 2)), W).flops > 4 * PRODUCT


def test_references():
    def f(x):
        ref = dovetail.new_ref(x)
        ref[...] = ref[...] * 2
        ref[0] += 1.0
        return ref[...]

    found = total(f, W)
    assert found.flops == 32**2 + 32
    assert 4 * W.nbytes <= found.bytes <= 8 * W.nbytes


def test_references_in_loops_and_as_arguments():
    def accumulate(ref, xs):
        def body(i, _):
            ref[...] += dnp.sin(xs[i])

        lax.fori_loop(0, 4, body, None)

    ref, xs = dovetail.new_ref(W), np.ones((4, 32, 32), f32)
    found = total(accumulate, ref, xs)
    assert found.transcendentals == 4 * 32**2 and found.flops >= 4 * 32**2
    assert found.bytes >= 4 * 3 * W.nbytes  # of each slice, and of the reference twice
    np.testing.assert_array_equal(ref[...], W)  # nothing ran


def test_the_gradient_of_a_function_with_references():
    def f(x):
        ref = dovetail.new_ref(dnp.zeros_like(x))
        ref[...] += dnp.sin(x)
        return dnp.sum(ref[...])

    assert total(jit(grad(f)), W).transcendentals == 32**2


def test_a_decomposition_is_counted_and_of_the_line_that_uses_it():
    f = lambda x: dovetail.nn.softmax(x)  # noqa: E731
    (line,) = roofline(f, M)(W).lines
    assert line.transcendentals == 32**2 and line.bytes == 2 * W.nbytes
    assert line.number == f.__code__.co_firstlineno


def test_what_nothing_needs_does_not_count():
    def f(x):
        dnp.exp(x)
        return x + 1

    assert total(f, W).transcendentals == 0


def test_a_rule_of_ones_own():
    from acme_roofline import Cost, cost_rules

    from dovetail_core import Primitive

    kernel_p = Primitive("acme.kernel")
    kernel_p.def_abstract_eval(lambda x: x)

    @cost_rules.register(kernel_p)
    def _kernel_cost(ins, outs, /, **params):
        return Cost(flops=123.0)

    try:
        found = total(kernel_p.bind, W)
        assert (found.flops, found.bytes) == (123, 2 * W.nbytes)
    finally:
        del cost_rules.rules[kernel_p], cost_rules.origins[kernel_p]
