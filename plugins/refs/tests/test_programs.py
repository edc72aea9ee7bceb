"""Random programs on references agree with NumPy under every transformation."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import dovetail
import dovetail.numpy as dnp
from dovetail import lax
from dovetail_backends.testing import evaluated_by_reference

from .reference_programs import ARRAYS, REFS, draw, run, start

pytestmark = pytest.mark.usefixtures("wide")
FULL = os.environ.get("DOVETAIL_TEST_FULL") == "1"
SEEDS = range(8 if FULL else 2)
FEW = range(4 if FULL else 1)  # where one test compiles many programs
X, STEPS = 0.4, 3


@pytest.fixture(autouse=True)
def evaluation() -> Iterator[None]:
    """By NumPy: what XLA makes of operations is tested by itself."""
    with evaluated_by_reference():
        yield


def loop(ops: Any, steps: Any, places: Any, x: Any, n: int = STEPS) -> Any:
    """The program run ``n`` times in Python, as every kind of loop must run it."""
    for i in range(n):
        x = run(steps, ops, places, 0.5 * x, i)
    return x


def scanned(steps: Any, places: Any, x: Any) -> Any:
    def body(c: Any, i: Any) -> Any:
        return run(steps, REFS, places, 0.5 * c, i), None

    return lax.scan(body, x, dnp.arange(STEPS))[0]


def forked(steps: Any, places: Any, x: Any) -> Any:
    def body(i: Any, c: Any) -> Any:
        return run(steps, REFS, places, 0.5 * c, i)

    return lax.fori_loop(0, STEPS, body, x)


def whiled(steps: Any, places: Any, x: Any) -> Any:
    def body(state: Any) -> Any:
        i, c = state
        return i + 1, run(steps, REFS, places, 0.5 * c, i)

    return lax.while_loop(lambda s: s[0] < STEPS, body, (0, x))[1]


def branched(steps: Any, places: Any, x: Any) -> Any:
    """A branch that is taken, beside one that is not and writes, too."""

    def body(c: Any, i: Any) -> Any:
        def taken(c: Any) -> Any:
            return run(steps, REFS, places, 0.5 * c, i)

        def other(c: Any) -> Any:
            places[1][...] = 0.0 * places[1][...]
            return c

        return lax.cond(i < STEPS, taken, other, c), None

    return lax.scan(body, x, dnp.arange(STEPS))[0]


FORMS: dict[str, Callable[..., Any]] = {
    "plain": lambda steps, places, x: loop(REFS, steps, places, x),
    "scan": scanned,
    "fori": forked,
    "while": whiled,
    "cond": branched,
}
FORWARD = list(FORMS)
REVERSE = [f for f in FORMS if f != "while"]


def expected(seed: int, x: float = X) -> tuple[float, list[np.ndarray]]:
    places = start(seed)
    return loop(ARRAYS, draw(seed), places, x), places


@pytest.mark.parametrize("jitted", [False, True], ids=["eager", "jit"])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("seed", SEEDS)
def test_references_as_arguments(seed: int, form: str, jitted: bool) -> None:
    steps, refs = draw(seed), [dovetail.new_ref(a) for a in start(seed)]

    def f(refs: Any, x: Any) -> Any:
        return FORMS[form](steps, refs, x)

    value = (dovetail.jit(f) if jitted else f)(refs, X)
    want, places = expected(seed)
    np.testing.assert_allclose(value, want, rtol=1e-12)
    for ref, place in zip(refs, places):
        np.testing.assert_allclose(ref[...], place, rtol=1e-12)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("seed", SEEDS)
def test_references_closed_over(seed: int, form: str) -> None:
    steps, refs = draw(seed), [dovetail.new_ref(a) for a in start(seed)]
    f = dovetail.jit(lambda x: FORMS[form](steps, refs, x))
    once, places = expected(seed)
    np.testing.assert_allclose(f(X), once, rtol=1e-12)
    np.testing.assert_allclose(f(once), loop(ARRAYS, steps, places, once), rtol=1e-11)
    for ref, place in zip(refs, places):
        np.testing.assert_allclose(ref[...], place, rtol=1e-11)


def inside(form: str, seed: int) -> Callable[[Any], Any]:
    """A pure function of ``x`` that makes its references, from ``x`` too, and reads them last."""
    steps, first = draw(seed), start(seed)

    def f(x: Any) -> Any:
        refs = [dovetail.new_ref(a * x) for a in map(dnp.asarray, first)]
        out = FORMS[form](steps, refs, x)
        return out + sum(dnp.sin(dovetail.freeze(r)).sum() for r in refs)

    return f


def inside_numpy(seed: int, x: float) -> float:
    places = [a * x for a in start(seed)]
    out = loop(ARRAYS, draw(seed), places, x)
    return out + sum(np.sin(p).sum() for p in places)


def slope(seed: int, x: float, h: float = 1e-6) -> float:
    return (inside_numpy(seed, x + h) - inside_numpy(seed, x - h)) / (2 * h)


@pytest.mark.parametrize("form", FORWARD)
@pytest.mark.parametrize("seed", SEEDS)
def test_forward_mode(seed: int, form: str) -> None:
    f = inside(form, seed)
    for g in (f, dovetail.jit(f)):
        value, tangent = dovetail.jvp(g, (X,), (1.0,))
        np.testing.assert_allclose(value, inside_numpy(seed, X), rtol=1e-12)
        np.testing.assert_allclose(tangent, slope(seed, X), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("form", REVERSE)
@pytest.mark.parametrize("seed", FEW)
def test_reverse_mode(seed: int, form: str) -> None:
    f = inside(form, seed)
    want = slope(seed, X)
    for g in (dovetail.grad(f), dovetail.jit(dovetail.grad(f)), dovetail.grad(dovetail.jit(f))):
        np.testing.assert_allclose(g(X), want, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("form", ["plain", "scan"])
@pytest.mark.parametrize("seed", FEW)
def test_second_order(seed: int, form: str) -> None:
    f = inside(form, seed)
    h = 1e-4
    want = (slope(seed, X + h) - slope(seed, X - h)) / (2 * h)
    np.testing.assert_allclose(dovetail.grad(dovetail.grad(f))(X), want, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(dovetail.hessian(f)(X), want, rtol=1e-4, atol=1e-4)


XS = np.array([0.2, 0.4, -0.7])


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("seed", SEEDS)
def test_batched_inside(seed: int, form: str) -> None:
    f = inside(form, seed)
    want = [inside_numpy(seed, x) for x in XS]
    np.testing.assert_allclose(dovetail.vmap(f)(XS), want, rtol=1e-12)
    np.testing.assert_allclose(dovetail.jit(dovetail.vmap(f))(XS), want, rtol=1e-12)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("seed", SEEDS)
def test_batched_references(seed: int, form: str) -> None:
    """Each call has its slice of a mapped reference; they come back together."""
    steps, first = draw(seed), start(seed, (len(XS),))
    f = dovetail.vmap(lambda refs, x: FORMS[form](steps, refs, x))
    for g in (f, dovetail.jit(f)):
        refs = [dovetail.new_ref(a) for a in first]
        out = g(refs, XS)
        places = [a.copy() for a in first]
        for k, x in enumerate(XS):
            want = loop(ARRAYS, steps, [p[k] for p in places], float(x))
            np.testing.assert_allclose(out[k], want, rtol=1e-12)
        for ref, place in zip(refs, places):
            np.testing.assert_allclose(ref[...], place, rtol=1e-12)


@pytest.mark.parametrize("form", ["plain", "scan", "cond"])
@pytest.mark.parametrize("seed", FEW)
def test_batched_gradients(seed: int, form: str) -> None:
    f = inside(form, seed)
    want = [slope(seed, float(x)) for x in XS]
    np.testing.assert_allclose(dovetail.vmap(dovetail.grad(f))(XS), want, rtol=1e-6, atol=1e-7)
    total = dovetail.grad(lambda xs: dovetail.vmap(f)(xs).sum())
    np.testing.assert_allclose(total(XS), want, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("seed", SEEDS)
def test_discharged_programs(seed: int, form: str) -> None:
    """The public pass: contents go in and come out, and nothing mutable is left."""
    steps, first = draw(seed), start(seed)
    refs = [dovetail.new_ref(a) for a in first]
    traced = dovetail.make_jaxpr(lambda refs, x: FORMS[form](steps, refs, x))(refs, X)
    pure = dovetail.ref.discharge(traced)
    assert "Ref{" not in str(pure)
    assert not pure.effects
    value, *finals = dovetail_eval(pure, *first, X)
    want, places = expected(seed)
    np.testing.assert_allclose(value, want, rtol=1e-12)
    for final, place in zip(finals, places):
        np.testing.assert_allclose(final, place, rtol=1e-12)


def dovetail_eval(program: Any, *args: Any) -> Any:
    from dovetail_core import eval_jaxpr

    return dovetail.jit(lambda *xs: eval_jaxpr(program.jaxpr, program.consts, *xs))(*args)
