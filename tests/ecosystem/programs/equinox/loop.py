"""A gradient through a loop of unknown length that keeps few of its states."""

import equinox as eqx
import equinox.internal as eqxi
import jax.numpy as jnp


def simulate(velocity, kind):
    def unfinished(state):
        return state[2] < 0.9

    def body(state):
        x, v, t = state
        return x + 0.01 * v, v - 0.01 * jnp.sin(x), t + 0.01

    start = (jnp.array(0.3), velocity, jnp.array(0.0))
    return eqxi.while_loop(unfinished, body, start, kind=kind, max_steps=128, checkpoints=8)[0]


def run():
    result = {}
    for kind in ("checkpointed", "bounded"):
        function = eqx.filter_jit(eqx.filter_value_and_grad(lambda v: simulate(v, kind=kind)))
        for number in range(10):
            result[kind] = function(jnp.array(0.1 * number))
            yield result[kind]
    return {kind + part: value for kind, pair in result.items() for part, value in zip("vg", pair)}
