"""References in checkpointed loops: every write happens once, however often steps are run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dovetail_lax as lax
from dovetail_ad import grad
from dovetail_jit import jit
from dovetail_refs import new_ref
from dovetail_remat import Binomial, Online, Periodic

SCHEMES = [Binomial(2), Periodic(2), Online(1)]
X = np.float32(0.3)


def looped(x: Any, written: Any, read: Any, scheme: Any) -> Any:
    """A scan that writes one reference, reads another, and makes one in each step."""
    total = new_ref(np.float32(0))

    def step(c: Any, s: Any) -> Any:
        doubled = new_ref(lax.mul(c, np.float32(2)))
        doubled[...] += s
        written[...] += np.float32(1)
        total[...] += doubled[...]
        return lax.mul(lax.mul(lax.sin(doubled[...]), written[...]), read[...]), c

    c, ys = lax.scan(step, x, np.arange(4, dtype=np.float32), checkpoint=scheme)
    return lax.add(lax.add(c, total[...]), lax.reduce_sum_p.bind(ys, axes=(0,)))


def as_argument(order: Callable[[Any], Any], scheme: Any, r: Any, q: Any) -> Any:
    return order(lambda x, r, q: looped(x, r, q, scheme))(X, r, q)


def closed_over(order: Callable[[Any], Any], scheme: Any, r: Any, q: Any) -> Any:
    return order(lambda x: looped(x, r, q, scheme))(X)


@pytest.mark.parametrize("scheme", SCHEMES, ids=repr)
def test_a_step_may_make_references_where_none_come_from_outside(scheme: Any) -> None:
    def step(c: Any, s: Any) -> Any:
        doubled = new_ref(lax.mul(c, np.float32(2)))
        doubled[...] += s
        return lax.sin(doubled[...]), c

    def f(x: Any, scheme: Any) -> Any:
        return lax.scan(step, x, np.arange(4, dtype=np.float32), checkpoint=scheme)[0]

    for order in (jit, grad, lambda f: jit(grad(f))):
        result, plain = (order(lambda x, s=s: f(x, s))(X) for s in (scheme, None))
        np.testing.assert_allclose(result, plain, rtol=1e-5)


@pytest.mark.parametrize("order", [grad, lambda f: grad(grad(f))], ids=["first", "second"])
@pytest.mark.parametrize("how", [as_argument, closed_over])
@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "jit"])
@pytest.mark.parametrize("scheme", SCHEMES, ids=repr)
def test_gradients_and_references_are_those_of_the_plain_loop(
    scheme: Any, compiled: bool, how: Any, order: Any
) -> None:
    def run(scheme: Any) -> list[Any]:
        r, q = new_ref(np.float32(1)), new_ref(np.float32(1.5))
        whole = (lambda f: jit(order(f))) if compiled else order
        return [how(whole, scheme, r, q), r[...], q[...]]

    plain, result = run(None), run(scheme)
    np.testing.assert_allclose(result, plain, rtol=1e-5)
    assert result[1:] == [5, 1.5]


@pytest.mark.parametrize("snapshots", [1, 3])
def test_a_condition_that_reads_a_reference(snapshots: int) -> None:
    def f(x: Any, r: Any, scheme: Any) -> Any:
        def step(c: Any) -> Any:
            r[...] += np.float32(1)
            return lax.mul(lax.sin(c), r[...])

        return lax.while_loop(lambda c: r[...] < 5, step, x, checkpoint=scheme)

    r = new_ref(np.float32(1))
    value = f(X, r, Online(snapshots))
    assert r[...] == 5
    c, d = X, 1.0
    for k in (2, 3, 4, 5):
        c, d = np.sin(c) * k, d * np.cos(c) * k
    np.testing.assert_allclose(value, c, rtol=1e-6)
    r = new_ref(np.float32(1))
    np.testing.assert_allclose(grad(lambda x: f(x, r, Online(snapshots)))(X), d, rtol=1e-5)
    assert r[...] == 5
