"""The option ``threefry_partitionable`` holds where an operation is called, not where its program
is lowered, differentiated, mapped or computed again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dovetail as dt
import dovetail.numpy as dnp
from dovetail import lax, random
from dovetail_core import jaxpr_as_fun

KEY = random.key(72)


def _sum_of_keys(key: Any) -> Any:
    return dnp.sum(random.key_data(random.split(key, 3)).astype("float32"))


DRAWS: dict[str, Callable[[Any], Any]] = {
    "bits": lambda key: dnp.sum(random.bits(key, (3,)).astype("float32")),
    "uniform": lambda key: random.uniform(key, (3,)).sum(),
    "normal": lambda key: random.normal(key, (2, 2)).sum(),
    "randint": lambda key: random.randint(key, (), 0, 1 << 20).astype("float32"),
    "split": _sum_of_keys,
    "gamma": lambda key: random.gamma(key, 1.7, (3,)).sum(),
    "permutation": lambda key: random.permutation(key, 8)[0].astype("float32"),
    "binomial": lambda key: random.binomial(key, 9, 0.4, (3,)).sum(),
    "multinomial": lambda key: random.multinomial(key, 9, dnp.full(3, 1 / 3))[0],
    "raw key": lambda key: random.uniform(random.key_data(key), (3,)).sum(),
}


@pytest.mark.parametrize("draw", DRAWS.values(), ids=list(DRAWS))
def test_the_option_inside_a_function_that_is_traced_holds(draw: Any) -> None:
    with random_option(False):
        want = draw(KEY)

    def f(x: Any) -> Any:
        with random_option(False):
            return x * draw(KEY)

    np.testing.assert_allclose(dt.jit(f)(1.0), want, rtol=1e-6)


@pytest.mark.parametrize("draw", [DRAWS["uniform"], DRAWS["split"]], ids=["bits", "keys"])
@pytest.mark.parametrize("inside", [False, True])
def test_the_option_inside_a_function_holds_however_it_is_transformed(
    draw: Any, inside: bool
) -> None:
    with random_option(inside):
        want = float(draw(KEY))

    def of_key(key: Any) -> Any:
        with random_option(inside):
            return draw(key)

    def f(x: Any) -> Any:
        return x * of_key(KEY)

    with random_option(not inside):
        assert float(draw(KEY)) != want
        result = {
            "at rest": f(1.0), "jit": dt.jit(f)(1.0), "grad": dt.grad(f)(1.0),
            "grad of jit": dt.grad(dt.jit(f))(1.0), "jit of grad": dt.jit(dt.grad(f))(1.0),
            "checkpoint": dt.grad(dt.checkpoint(lambda x: dnp.sin(f(x))))(0.0),
            "scan": lax.scan(lambda c, _: (f(c), None), 1.0, None, length=1)[0],
            "cond": lax.cond(True, f, lambda x: x, 1.0), "vmap": dt.vmap(f)(dnp.ones(2))[1],
            "key": dt.jit(of_key)(KEY), "mapped key": dt.vmap(of_key)(KEY[None])[0],
        }  # fmt: skip
        program = dt.make_jaxpr(f)(1.0)
    for option in (False, True):
        with random_option(option):
            result[f"program under {option}"] = jaxpr_as_fun(program)(1.0)[0]
    for x in result.values():
        np.testing.assert_allclose(x, want, rtol=1e-6)


def random_option(value: bool) -> Any:
    return dt.threefry_partitionable(value)


def test_a_checkpointed_draw_is_the_same_when_it_is_computed_again() -> None:
    """Its pullback runs under another value of the option than its call did."""

    def f(x: Any) -> Any:
        return dnp.sum(dnp.sin(x) * random.normal(KEY, (4,)))

    with random_option(False):
        _, pullback = dt.vjp(dt.jit(dt.checkpoint(f)), dnp.zeros(4))
        want = random.normal(KEY, (4,))
    np.testing.assert_array_equal(pullback(dnp.float32(1.0))[0], want)


def test_programs_say_the_arrangement_where_it_is_not_the_usual_one() -> None:
    def draw(key: Any) -> Any:
        return random.bits(key, (2,))

    (usual,) = dt.make_jaxpr(draw)(KEY).eqns
    with random_option(False):
        (other,) = dt.make_jaxpr(draw)(KEY).eqns
    assert "partitionable" not in usual.params and other.params["partitionable"] is False
