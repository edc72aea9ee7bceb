"""Shapes beyond what can be counted: refused before the runtime, which would abort the process."""

from __future__ import annotations

import pytest

import dovetail
import dovetail.numpy as jnp
from dovetail import lax

HUGE = 1 << 40


def refuses(name: str, call, shape: str = r"\(.*\)"):
    text = (
        rf"^an array of shape {shape} and element type \w+ has more than 2\*\*60 bytes in {name} "
        rf"at {__file__}:\d+ \(.*\)\. Correct the shape\.$"
    )
    with pytest.raises(ValueError, match=text):
        call()


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("zeros", lambda: jnp.zeros((HUGE, HUGE))),
        ("ones", lambda: jnp.ones((1 << 21, 1 << 21, 1 << 21))),
        ("full", lambda: jnp.full((HUGE, HUGE), 1)),
        ("zeros", lambda: jnp.zeros((1 << 62, 0))),
        ("broadcast_to", lambda: jnp.broadcast_to(1.0, (HUGE, HUGE))),
        ("eye", lambda: jnp.eye(HUGE)),
        ("arange", lambda: jnp.arange(10**30)),
        ("arange", lambda: jnp.arange(0, 1e300)),
        ("linspace", lambda: jnp.linspace(0, 1, 1 << 62)),
        ("tile", lambda: jnp.tile(jnp.ones(3), 1 << 62)),
        ("repeat", lambda: jnp.repeat(jnp.ones(3), 1 << 62)),
        ("resize", lambda: jnp.resize(jnp.ones(3), (HUGE, HUGE))),
        ("pad", lambda: jnp.pad(jnp.ones(3), 1 << 62)),
        ("reshape", lambda: jnp.reshape(jnp.zeros(0), (1 << 62, 1 << 62, 0))),
        ("iota", lambda: lax.iota("int32", 1 << 62)),
        ("broadcasted_iota", lambda: lax.broadcasted_iota("int32", (HUGE, HUGE), 0)),
        ("full", lambda: lax.full((HUGE, HUGE), 1.0)),
        ("pad", lambda: lax.pad(jnp.ones(3), 0.0, [(0, 0, 1 << 62)])),
        (
            "conv_general_dilated",
            lambda: lax.conv_general_dilated(
                jnp.ones((1, 1, 3)), jnp.ones((1, 1, 1)), (1,), [(1 << 62, 1 << 62)]
            ),
        ),
        ("uniform", lambda: dovetail.random.uniform(dovetail.random.PRNGKey(0), (HUGE, HUGE))),
        ("one_hot", lambda: dovetail.nn.one_hot(jnp.arange(3), 1 << 62)),
        ("zeros", lambda: dovetail.jit(lambda: jnp.zeros((HUGE, HUGE)).sum())()),
        ("zeros", lambda: dovetail.vmap(lambda x: jnp.zeros(1 << 61))(jnp.ones(8))),
        ("scan", lambda: lax.scan(lambda c, x: (c, jnp.zeros(HUGE)), 0.0, None, length=HUGE)),
    ],
)
def test_shapes(name, call):
    refuses(name, call)


def test_types():
    with pytest.raises(ValueError, match=r"^an array of shape \(1099511627776, 10995"):
        dovetail.ShapeDtypeStruct((HUGE, HUGE), "float32")


def test_outer_products():
    x = dovetail.ShapeDtypeStruct((1 << 31,), "float32")
    refuses("outer", lambda: dovetail.eval_shape(lambda a: jnp.outer(a, a), x))


def test_what_is_merely_large_is_no_error_of_shape():
    out = dovetail.eval_shape(lambda: jnp.zeros((1 << 28, 1 << 28)))
    assert out.shape == (1 << 28, 1 << 28)
