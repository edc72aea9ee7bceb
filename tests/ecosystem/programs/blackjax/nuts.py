"""NUTS with window adaptation on a normal distribution of two correlated coordinates."""

import blackjax
import jax
import jax.numpy as jnp


def logdensity(x):
    difference = x["b"] - 2.0 * x["a"]
    return -0.5 * jnp.sum(x["a"] ** 2) - 0.5 * jnp.sum(difference**2) / 0.25


def run():
    start = {"a": jnp.ones(2), "b": jnp.ones(2)}
    adaptation = blackjax.window_adaptation(blackjax.nuts, logdensity)
    key = jax.random.key(0)
    (state, parameters), _ = adaptation.run(key, start, num_steps=300)
    kernel = blackjax.nuts(logdensity, **parameters)

    @jax.jit
    def chain(state, keys):
        def step(state, key):
            state, info = kernel.step(key, state)
            return state, (state.position, info.acceptance_rate)

        return jax.lax.scan(step, state, keys)

    for number in range(5):
        keys = jax.random.split(jax.random.fold_in(key, number), 300)
        state, (positions, accepted) = chain(state, keys)
        yield positions
    mean = jnp.round(positions["a"].mean() / 2)
    return {"mean": mean, "accepted": accepted.mean() > 0.6, "shape": str(positions["b"].shape)}
