"""References under differentiation: plumbing, tangents in them, cotangents added to them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dovetail
import dovetail.numpy as dnp
from dovetail import ad, lax, ref as dref


def plumbed(x: Any, ref: Any) -> Any:
    """Reads and writes only what is not differentiated, exactly once per call."""
    out = x * ref[...]
    ref[...] += 1.0
    return out


def looped(x: Any, ref: Any) -> Any:
    def body(c: Any, i: Any) -> Any:
        dref.addupdate(ref, ..., 1.0)
        return c * x * ref[...], None

    return lax.scan(body, 1.0, dnp.arange(3))[0]


def chosen(x: Any, ref: Any) -> Any:
    def write(x: Any) -> Any:
        ref[...] += 1.0
        return x * ref[...]

    return lax.cond(ref[...] < 100, write, lambda x: x, x)


def called(x: Any, ref: Any) -> Any:
    return dovetail.jit(plumbed)(x, ref)


CASES = [(plumbed, 1), (looped, 3), (chosen, 1), (called, 1)]


def values(f: Any, x: float, start: float) -> float:
    ref = dovetail.new_ref(start)
    return float(f(x, ref))


@pytest.mark.parametrize(("f", "writes"), CASES, ids=[f.__name__ for f, _ in CASES])
@pytest.mark.parametrize("jitted", [False, True], ids=["eager", "jit"])
def test_writes_happen_once(f: Any, writes: int, jitted: bool) -> None:
    ref, x, h = dovetail.new_ref(3.0), 0.7, 1e-2
    under = dovetail.jit if jitted else (lambda f: f)
    expected = 3.0

    def slope() -> float:
        return (values(f, x + h, expected) - values(f, x - h, expected)) / (2 * h)

    for run in (
        lambda: dovetail.grad(f)(x, ref),
        lambda: under(lambda x, ref: dovetail.grad(f)(x, ref))(x, ref),
        lambda: under(lambda x, r: dovetail.jvp(lambda x: f(x, r), (x,), (1.0,))[1])(x, ref),
        lambda: under(lambda x, r: dovetail.vjp(lambda x: f(x, r), x)[1](1.0)[0])(x, ref),
        lambda: dovetail.grad(lambda x: f(x, ref))(x),
        lambda: dovetail.jvp(f, (x, ref), (1.0, None))[1],
        lambda: dovetail.vjp(f, x, ref)[1](1.0)[0],
        lambda: dovetail.linearize(f, x, ref)[1](1.0, None),
        lambda: dovetail.grad(dovetail.jit(f))(x, ref),
    ):
        want = slope()
        np.testing.assert_allclose(run(), want, rtol=1e-2)
        expected += writes
        assert float(ref[...]) == expected


def test_an_argument_that_is_a_reference_has_no_cotangent() -> None:
    ref = dovetail.new_ref(2.0)
    value, pull = dovetail.vjp(plumbed, 3.0, ref)
    assert float(value) == 6.0
    assert pull(1.0)[1] is None


def test_loops_of_unknown_length_are_linearized_with_one_set_of_writes() -> None:
    ref = dovetail.new_ref(1.0)

    def f(x: Any) -> Any:
        def body(state: Any) -> Any:
            i, c = state
            ref[...] += 1.0
            return i + 1, c * x * ref[...]

        return lax.while_loop(lambda s: s[0] < 2, body, (0, 1.0))[1]

    value, linear = dovetail.linearize(f, 3.0)
    assert float(value) == 3.0 * 2.0 * 3.0 * 3.0
    assert float(linear(1.0)) == 2 * 3.0 * 2.0 * 3.0
    assert float(linear(2.0)) == 2 * 2 * 3.0 * 2.0 * 3.0
    assert float(ref[...]) == 3.0


@pytest.mark.parametrize("jitted", [False, True], ids=["eager", "jit"])
def test_tangents_in_references(jitted: bool) -> None:
    def f(x: Any, ref: Any) -> Any:
        ref[0] = ref[0] * x
        return ref[0] + x

    def run(x: Any, ref: Any, dot: Any) -> Any:
        return dovetail.jvp(f, (x, ref), (1.0, dot))

    ref, dot = dovetail.new_ref(np.array([3.0, 5.0])), dovetail.new_ref(np.array([10.0, 7.0]))
    value, tangent = (dovetail.jit(run) if jitted else run)(2.0, ref, dot)
    assert float(value) == 8.0
    assert float(tangent) == 3.0 + 2 * 10.0 + 1.0
    np.testing.assert_array_equal(ref[...], [6.0, 5.0])
    np.testing.assert_array_equal(dot[...], [23.0, 7.0])


def product(x: Any, w: Any) -> Any:
    return (x["a"] * w).sum() + 2.0 * x["b"]


def test_cotangents_are_added_to_references() -> None:
    x, w = {"a": dnp.arange(3.0), "b": dnp.ones(())}, dnp.array([1.0, 2.0, 3.0])
    _, pull = dovetail.vjp(product, x, w)
    a, table = (
        dovetail.new_ref(np.ones(3, np.float32)),
        dovetail.new_ref(np.zeros((2, 3), np.float32)),
    )
    out = pull.with_refs({"a": a, "b": None}, table.at[1])(2.0)
    assert out == ({"a": ad.GradRef(), "b": None}, ad.GradRef())
    np.testing.assert_array_equal(a[...], [3.0, 5.0, 7.0])
    np.testing.assert_array_equal(table[...], [[0, 0, 0], [0, 2, 4]])
    out = pull.with_refs({"a": a, "b": ...}, a)(1.0)  # both into one place
    assert float(out[0]["b"]) == 2.0
    out = pull.with_refs({"a": ad.DontWant(), "b": ad.GradValue()}, ad.DontWant())(1.0)
    assert out == ({"a": ad.DidntWant(), "b": 2.0}, ad.DidntWant())
    assert dovetail.tree.leaves(out) == [2.0]
    np.testing.assert_array_equal(a[...], [4.0, 8.0, 12.0])


def test_cotangents_accumulate_over_microbatches() -> None:
    """The use for which it is there: no gradient of the whole exists beside the accumulator."""
    batches = np.arange(12.0, dtype=np.float32).reshape(4, 3)

    def loss(w: Any, batch: Any) -> Any:
        return dnp.sin(w * batch).sum()

    def accumulate(acc: Any, w: Any) -> None:
        def step(_: Any, batch: Any) -> Any:
            dovetail.vjp(lambda w: loss(w, batch), w)[1].with_refs(acc)(1.0)
            return None, None

        lax.scan(step, None, batches)

    w = dnp.array([0.1, 0.2, 0.3])
    want = dovetail.grad(lambda w: sum(loss(w, b) for b in batches))(w)
    for run in (accumulate, dovetail.jit(accumulate)):
        acc = dovetail.new_ref(np.zeros(3, np.float32))
        run(acc, w)
        np.testing.assert_allclose(acc[...], want, rtol=1e-5)


def test_pull_backs_are_pytrees() -> None:
    def f(w: Any) -> Any:
        return dovetail.vjp(lambda w: (w * w).sum(), w)[1]

    pull = dovetail.jit(f)(dnp.arange(3.0))
    acc = dovetail.new_ref(np.zeros(3, np.float32))
    pull.with_refs(acc)(1.0)
    np.testing.assert_array_equal(acc[...], [0.0, 2.0, 4.0])


@dovetail.custom_vjp
def stashing(x: Any, ref: Any) -> Any:
    return x * 1.0


stashing.defvjp(
    lambda x, ref: (x * 1.0, ref), lambda ref, ct: (dref.set(ref, ..., ct), (ct, None))[1]
)


def test_backward_functions_write_to_references() -> None:
    ref = dovetail.new_ref(0.0)
    f = lambda x, ref: 3.0 * stashing(x * x, ref)  # noqa: E731
    assert float(dovetail.grad(f)(2.0, ref)) == 12.0
    assert float(ref[...]) == 3.0
    ref[...] = 0.0
    assert float(dovetail.jit(dovetail.grad(f))(2.0, ref)) == 12.0
    assert float(ref[...]) == 3.0
    refs = dovetail.new_ref(np.zeros(3, np.float32))
    dovetail.vmap(dovetail.grad(f))(dnp.arange(3.0), refs)
    np.testing.assert_array_equal(refs[...], [3.0, 3.0, 3.0])


def test_backward_functions_write_in_loops() -> None:
    ref = dovetail.new_ref(0.0)

    def f(x: Any) -> Any:
        return lax.scan(lambda c, _: (stashing(c * x, ref), None), 1.0, None, length=3)[0]

    for g in (dovetail.grad(f), dovetail.jit(dovetail.grad(f))):
        ref[...] = 0.0
        assert float(g(2.0)) == 12.0
        assert float(ref[...]) == 4.0  # of the first iteration, which comes last


def test_references_made_inside_hold_what_is_differentiated() -> None:
    def f(x: Any) -> Any:
        ref = dovetail.new_ref(dnp.zeros(3))
        ref[1] = dnp.sin(x)
        dref.addupdate(ref, np.array([1, 1]), x)
        return (ref[...] * dnp.arange(3.0)).sum()

    want = np.cos(0.5) + 2.0
    np.testing.assert_allclose(dovetail.grad(f)(0.5), want, rtol=1e-6)
    np.testing.assert_allclose(dovetail.jacfwd(f)(0.5), want, rtol=1e-6)
    transposed = dovetail.linear_transpose(
        lambda x: dref.run_state(lambda r: dref.addupdate(r, 0, 3.0 * r[1]))(x), dnp.ones(2)
    )
    np.testing.assert_array_equal(transposed(dnp.array([1.0, 10.0]))[0], [1.0, 13.0])


def test_integers_are_not_differentiated() -> None:
    count = dovetail.new_ref(0)

    def f(x: Any) -> Any:
        count[...] += 1
        inner = dovetail.new_ref(dnp.arange(3))
        inner[0] = count[...]
        return x * inner[...].sum()

    assert float(dovetail.grad(f)(2.0)) == 4.0
    assert int(count[...]) == 1


@dovetail.custom_jvp
def steep(x: Any) -> Any:
    return x * x


steep.defjvp(lambda primals, tangents: (steep(*primals), 100.0 * tangents[0]))


@dovetail.custom_vjp
def weighted(x: Any, ref: Any) -> Any:
    return x * ref[...]


weighted.defvjp(lambda x, ref: (x * ref[...], None), lambda _, ct: (7.0 * ct, None))


def test_custom_rules_are_kept() -> None:
    def f(x: Any) -> Any:
        ref = dovetail.new_ref(x)
        ref[...] = steep(ref[...])
        return ref[...]

    for g in (f, dovetail.jit(f), dovetail.remat(f)):
        assert float(dovetail.grad(g)(3.0)) == 100.0
    outside = dovetail.new_ref(2.0)
    assert float(dovetail.grad(weighted)(3.0, outside)) == 7.0
    mapped = dovetail.new_ref(np.ones(3, np.float32))
    total = lambda x: dovetail.vmap(weighted)(x, mapped).sum()  # noqa: E731
    np.testing.assert_array_equal(dovetail.grad(total)(dnp.arange(3.0)), [7.0, 7.0, 7.0])


@pytest.mark.parametrize("under", [lambda f: f, dovetail.jit], ids=["eager", "jit"])
def test_a_custom_rule_that_would_be_lost_is_an_error(under: Any) -> None:
    @dovetail.jit
    def f(x: Any) -> Any:
        return weighted(x, dovetail.new_ref(x))

    assert float(under(f)(3.0)) == 9.0
    text = (
        r"weighted has a rule of its own for differentiation .*, and is given Ref\{f32\[\]\} at .*"
        r"Pass its value, ref\[\.\.\.\]"
    )
    with pytest.raises(TypeError, match=text):
        under(dovetail.grad(f))(3.0)


def test_loops_that_compute_alike_in_all_steps_write_once_in_each() -> None:
    """What depends on no step is computed beside the loop, without the writes around it."""
    for wrap in (lambda f: f, dovetail.jit, dovetail.checkpoint):
        ref = dovetail.new_ref(0.0)

        def f(x: Any, ref: Any = ref) -> Any:
            def body(c: Any, _: Any) -> Any:
                ref[...] += 1.0
                return c * dnp.sin(x), None

            return lax.scan(body, 1.0, None, length=3)[0]

        want = 3 * np.sin(2.0) ** 2 * np.cos(2.0)
        np.testing.assert_allclose(dovetail.grad(wrap(f))(2.0), want, rtol=1e-6)
        assert float(ref[...]) == 3.0
