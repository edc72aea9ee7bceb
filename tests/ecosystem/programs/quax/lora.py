"""A linear layer whose weight is adapted by a product of two thin matrices, trained."""

import equinox as eqx
import jax
import jax.numpy as jnp
import quax
from quax.examples import lora


def run():
    key, inner, data = jax.random.split(jax.random.PRNGKey(0), 3)
    linear = eqx.nn.Linear(8, 4, key=inner)
    layer = lora.loraify(linear, rank=2, key=key)
    x = jax.random.normal(data, (16, 8))

    def loss(layer, x):
        return jnp.mean((jax.vmap(quax.quaxify(layer))(x) - 1) ** 2)

    step = eqx.filter_jit(eqx.filter_value_and_grad(loss))
    for _ in range(30):
        value, grads = step(layer, x)
        layer = eqx.apply_updates(layer, jax.tree_util.tree_map(lambda g: -0.05 * g, grads))
        yield value
    return {"loss": value}
