"""Many episodes at once of a pole on a cart, with a policy that is a network."""

import gymnax
import jax


def run():
    env, parameters = gymnax.make("CartPole-v1")
    weights = jax.random.normal(jax.random.key(0), (4, 2))

    @jax.jit
    def episode(key, weights):
        def step(carry, key):
            observation, state = carry
            act, move = jax.random.split(key)
            action = jax.random.categorical(act, observation @ weights)
            observation, state, reward, *ended, _ = env.step(move, state, action, parameters)
            return (observation, state), (observation, reward, ended[0])

        start, steps = jax.random.split(key)
        carry = env.reset(start, parameters)
        return jax.lax.scan(step, carry, jax.random.split(steps, 50))[1]

    every = jax.jit(jax.vmap(episode, (0, None)))
    for _ in range(3):
        observations, rewards, ended = every(jax.random.split(jax.random.key(1), 16), weights)
        yield rewards
    space = env.action_space(parameters)
    return {
        "observation": observations[0, 5],
        "rewards": rewards.sum(),
        "ended": ended.sum(1)[:4],
        "actions": space.n,
        "sampled": space.sample(jax.random.key(2)),
    }
