"""A perceptron with dropout and batch normalisation as a transformed function with state."""

import haiku as hk
import jax
import jax.numpy as jnp
import optax


def network(x, train):
    x = jax.nn.relu(hk.Linear(32)(x))
    x = hk.BatchNorm(True, True, 0.9)(x, train)
    if train:
        x = hk.dropout(hk.next_rng_key(), 0.1, x)
    return hk.nets.MLP([16, 3])(x)


def run():
    x = jax.random.normal(jax.random.PRNGKey(0), (64, 5))
    labels = jnp.argmax(x[:, :3], 1)
    model = hk.transform_with_state(network)
    params, state = model.init(jax.random.PRNGKey(1), x, True)
    solver = optax.adam(1e-2)
    moments = solver.init(params)

    @jax.jit
    def step(params, state, moments, key):
        def loss(params):
            logits, new = model.apply(params, state, key, x, True)
            hot = jax.nn.one_hot(labels, 3)
            return -jnp.mean(jnp.sum(hot * jax.nn.log_softmax(logits), -1)), new

        (value, state), gradient = jax.value_and_grad(loss, has_aux=True)(params)
        updates, moments = solver.update(gradient, moments)
        return optax.apply_updates(params, updates), state, moments, value

    for number in range(50):
        key = jax.random.fold_in(jax.random.PRNGKey(2), number)
        params, state, moments, value = step(params, state, moments, key)
        yield value
    names = sorted(f"{m}/{n}" for m, n, _ in hk.data_structures.traverse(params))
    return {"loss": value, "names": " ".join(names)}
