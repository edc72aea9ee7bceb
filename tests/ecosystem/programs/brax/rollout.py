"""A rollout of an environment over a batch, and a gradient through its physics."""

import jax
import jax.numpy as jnp
from brax import envs


def run():
    env = envs.get_environment("inverted_pendulum", backend="generalized")
    reset = jax.jit(jax.vmap(env.reset))
    state = reset(jax.random.split(jax.random.PRNGKey(0), 8))

    @jax.jit
    def rollout(state, gain):
        def step(state, _):
            action = gain * state.obs[:, :1]
            return jax.vmap(env.step)(state, action), state.reward

        state, rewards = jax.lax.scan(step, state, length=20)
        return state, rewards.sum()

    slope = jax.jit(jax.grad(lambda gain: jnp.sum(rollout(state, gain)[0].obs ** 2)))
    for number in range(5):
        gain = jnp.array(-0.1 * number)
        yield rollout(state, gain), slope(gain)
    return {"reward": rollout(state, gain)[1], "moves": jnp.isfinite(slope(gain))}
