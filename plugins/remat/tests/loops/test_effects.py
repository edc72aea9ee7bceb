"""Effects of checkpointed loops on the world outside: each step has its own exactly once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_ad import grad, jacfwd, jvp, linearize
from dovetail_batching import vmap
from dovetail_callbacks import debug
from dovetail_callbacks.experimental import io_callback
from dovetail_custom_rules import custom_jvp
from dovetail_jit import ShapeDtypeStruct, effects_barrier, jit
from dovetail_refs import new_ref
from dovetail_remat import Binomial, Online, Periodic, checkpoint

STEPS = 5
SCHEMES = [Binomial(snapshots=2), Online(snapshots=2), Periodic(every=2)]
said: list[Any] = []


@pytest.fixture(autouse=True)
def _nothing_said() -> Iterator[None]:
    effects_barrier()
    said.clear()
    yield


def say(x: Any) -> None:
    debug.callback(lambda v: said.append(float(v)), x)


def heard() -> list[Any]:
    effects_barrier()
    return sorted(said)


def looped(scheme: Any, effect: Callable[[Any, Any], None]) -> Callable[[Any], Any]:
    def step(i: Any, c: Any) -> Any:
        effect(i, c)
        return lax.sin(c)

    return lambda x: lax.fori_loop(0, STEPS, step, x, checkpoint=scheme)


TRANSFORMED: dict[str, Callable[[Any], Callable[[Any], Any]]] = {
    "called": lambda f: f,
    "jit": jit,
    "jvp": lambda f: lambda x: jvp(f, (x,), (1.0,)),
    "grad": grad,
    "jit of grad": lambda f: jit(grad(f)),
    "linearize": lambda f: lambda x: linearize(f, x)[1](1.0),
    "grad of grad": lambda f: grad(grad(f)),
    "jacfwd of grad": lambda f: jacfwd(grad(f)),
    "third order": lambda f: jit(grad(grad(grad(f)))),
    "checkpoint": lambda f: grad(checkpoint(f)),
}


@pytest.mark.parametrize("how", TRANSFORMED)
@pytest.mark.parametrize("scheme", SCHEMES, ids=lambda s: type(s).__name__)
def test_each_step_has_its_effect_once(scheme: Any, how: str) -> None:
    silent = TRANSFORMED[how](looped(scheme, lambda i, c: None))(0.5)
    result = TRANSFORMED[how](looped(scheme, lambda i, c: say(i)))(0.5)
    assert heard() == list(range(STEPS))
    np.testing.assert_allclose(result, silent, rtol=1e-5)


@pytest.mark.parametrize("scheme", SCHEMES[:2], ids=lambda s: type(s).__name__)
def test_each_element_of_a_mapped_loop_has_its_effect(scheme: Any) -> None:
    f = looped(scheme, lambda i, c: say(c))
    states = [0.5, 0.6]
    result = vmap(grad(f))(dnp.asarray(states))
    once = heard()
    said.clear()
    np.testing.assert_allclose(result, [grad(f)(x) for x in states], rtol=1e-5)
    np.testing.assert_allclose(once, heard(), rtol=1e-6)
    assert len(once) == 2 * STEPS


def _in_a_branch(i: Any, c: Any) -> None:
    lax.cond(i > 1, say, lambda i: None, i)


def _in_a_call(i: Any, c: Any) -> None:
    jit(say)(i)


def _in_a_loop(i: Any, c: Any) -> None:
    lax.scan(lambda k, _: (say(i), k)[::-1], c, None, length=2)


def _ordered(i: Any, c: Any) -> None:
    debug.callback(lambda v: said.append(int(v)), i, ordered=True)


def _unused(i: Any, c: Any) -> None:
    io_callback(lambda v: said.append(int(v)) or v, ShapeDtypeStruct((), np.int32), i)


INSIDE = {_in_a_branch: {2: 1, 3: 1, 4: 1}, _in_a_loop: dict.fromkeys(range(STEPS), 2)}


@pytest.mark.parametrize("effect", [_in_a_branch, _in_a_call, _in_a_loop, _ordered, _unused])
def test_effects_inside_of_the_step(effect: Any) -> None:
    grad(looped(Binomial(snapshots=2), effect))(0.5)
    if effect is _ordered:
        effects_barrier()
        assert said == list(range(STEPS))
    assert Counter(heard()) == INSIDE.get(effect, dict.fromkeys(range(STEPS), 1))


def test_effects_of_scans_and_of_what_references_hold() -> None:
    total = new_ref(dnp.zeros(()))

    def step(c: Any, x: Any) -> Any:
        total[...] = total[...] + lax.stop_gradient(x)
        say(total[...])
        return lax.sin(c) * x, c

    def f(xs: Any) -> Any:
        return lax.scan(step, 0.5, xs, reverse=True, checkpoint=Online(snapshots=2))[0]

    assert np.isfinite(grad(f)(dnp.asarray([1.0, 2.0, 4.0]))).all()
    assert heard() == [4.0, 6.0, 7.0]


def test_effects_of_conditions_and_nested_loops() -> None:
    def f(x: Any) -> Any:
        def more(state: Any) -> Any:
            say(state[0])
            return state[0] < 3

        def step(state: Any) -> Any:
            inner = looped(Periodic(every=2), lambda i, c: say(100 + i))
            return state[0] + 1, inner(state[1])

        return lax.while_loop(more, step, (0, x), checkpoint=Online(snapshots=2))[1]

    grad(f)(0.5)
    inner = {100 + i: 3 for i in range(STEPS)}
    assert Counter(heard()) == {0: 1, 1: 1, 2: 1, 3: 1, **inner}


def test_a_loop_whose_results_nobody_uses_has_its_effects() -> None:
    f = looped(Binomial(snapshots=2), lambda i, c: say(i))
    jit(lambda x: (f(x), x)[1])(0.5)
    assert heard() == list(range(STEPS))


def test_what_would_have_to_be_kept_or_repeated_is_refused() -> None:
    def asked(i: Any, c: Any) -> Any:
        return c * io_callback(lambda v: v, ShapeDtypeStruct((), np.float32), c)

    text = r"fori_loop at .*test_effects.*: asked has an effect that cannot be replayed, IOEffect"
    with pytest.raises(ValueError, match=text):
        lax.fori_loop(0, 3, asked, 0.5, checkpoint=Binomial(snapshots=2))

    noisy = custom_jvp(lambda x: lax.sin(x))

    def rule(primals: Any, tangents: Any) -> Any:
        say(tangents[0])
        return lax.sin(*primals), tangents[0]

    noisy.defjvp(rule)
    f = looped(Binomial(snapshots=2), lambda i, c: None)
    g = lambda x: f(lax.fori_loop(0, 3, lambda i, c: noisy(c), x, checkpoint=Online(2)))  # noqa: E731
    jvp(g, (0.5,), (1.0,))
    assert heard() == [1.0, 1.0, 1.0]
    with pytest.raises(ValueError, match=r"linearizing a checkpointed loop.*cannot be replayed"):
        grad(g)(0.5)
