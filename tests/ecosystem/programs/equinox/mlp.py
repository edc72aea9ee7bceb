"""A multilayer perceptron with dropout and normalisation, trained through filtered functions."""

import equinox as eqx
import jax
import jax.numpy as jnp
import optax


class Model(eqx.Module):
    mlp: eqx.nn.MLP
    norm: eqx.nn.LayerNorm
    dropout: eqx.nn.Dropout
    scale: float

    def __init__(self, key):
        self.mlp = eqx.nn.MLP(4, 1, 32, 2, jax.nn.gelu, key=key)
        self.norm = eqx.nn.LayerNorm(4)
        self.dropout = eqx.nn.Dropout(0.1)
        self.scale = 1.0

    def __call__(self, x, key):
        return self.scale * self.mlp(self.dropout(self.norm(x), key=key))[0]


def run():
    key = jax.random.PRNGKey(1)
    x = jax.random.normal(key, (128, 4))
    y = x[:, 0] * x[:, 1]
    model = Model(key)
    solver = optax.adam(3e-3)
    state = solver.init(eqx.filter(model, eqx.is_inexact_array))

    @eqx.filter_value_and_grad
    def loss(model, key):
        predicted = jax.vmap(model)(x, jax.random.split(key, len(x)))
        return jnp.mean((predicted - y) ** 2)

    @eqx.filter_jit
    def step(model, state, key):
        value, gradient = loss(model, key)
        updates, state = solver.update(gradient, state, model)
        return eqx.apply_updates(model, updates), state, value

    for number in range(100):
        model, state, value = step(model, state, jax.random.fold_in(key, number))
        yield value
    settled = eqx.nn.inference_mode(model)
    return {"loss": value, "here": settled(x[0], key), "leaves": len(jax.tree.leaves(model))}
