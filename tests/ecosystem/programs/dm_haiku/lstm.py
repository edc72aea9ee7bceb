"""A recurrent network unrolled over time, which learns to repeat what it saw two steps ago."""

import haiku as hk
import jax
import jax.numpy as jnp
import optax


def network(sequence):
    core = hk.LSTM(16)
    state = core.initial_state(sequence.shape[1])
    outputs, _ = hk.dynamic_unroll(core, sequence, state)
    return hk.BatchApply(hk.Linear(2))(outputs)


def run():
    sequence = jax.random.normal(jax.random.PRNGKey(0), (20, 8, 2))
    model = hk.without_apply_rng(hk.transform(network))
    params = model.init(jax.random.PRNGKey(1), sequence)
    solver = optax.rmsprop(3e-3)
    moments = solver.init(params)

    @jax.jit
    def step(params, moments):
        def loss(params):
            return jnp.mean((model.apply(params, sequence)[2:] - sequence[:-2]) ** 2)

        value, gradient = jax.value_and_grad(loss)(params)
        updates, moments = solver.update(gradient, moments, params)
        return optax.apply_updates(params, updates), moments, value

    for _ in range(50):
        params, moments, value = step(params, moments)
        yield value
    return {"loss": value, "size": hk.data_structures.tree_size(params)}
