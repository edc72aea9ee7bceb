"""Environments of several kinds, each stepped at random under jit and vmap."""

import gymnax
import jax
import jax.numpy as jnp


def run():
    result = {}
    for name in ("Pendulum-v1", "MountainCar-v0", "Catch-bsuite", "Breakout-MinAtar"):
        env, parameters = gymnax.make(name)

        @jax.jit
        def steps(key, env=env, parameters=parameters):
            def step(carry, key):
                observation, state = carry
                action = env.action_space(parameters).sample(key)
                observation, state, reward, *_ = env.step(key, state, action, parameters)
                return (observation, state), reward

            start, rest = jax.random.split(key)
            carry = env.reset(start, parameters)
            (observation, _), rewards = jax.lax.scan(step, carry, jax.random.split(rest, 20))
            return observation, rewards

        for _ in range(2):
            observation, rewards = jax.vmap(steps)(jax.random.split(jax.random.key(0), 3))
            yield rewards
        result[name] = rewards.sum(1)
        result[name + " seen"] = jnp.sum(observation)
    return result
