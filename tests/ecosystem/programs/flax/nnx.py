"""A network of objects with state, trained with an optimizer that is one, too."""

import jax
import jax.numpy as jnp
import optax
from flax import nnx


class Network(nnx.Module):
    def __init__(self, rngs):
        # A bias before the normalization would have derivatives of 0, of which only rounding is
        # left, and Adam would scale that to steps.
        self.first = nnx.Linear(4, 32, use_bias=False, rngs=rngs)
        self.norm = nnx.BatchNorm(32, rngs=rngs)
        self.dropout = nnx.Dropout(0.1, rngs=rngs)
        self.second = nnx.Linear(32, 1, rngs=rngs)

    def __call__(self, x):
        x = nnx.relu(self.dropout(self.norm(self.first(x))))
        return self.second(x)[:, 0]


def run():
    x = jax.random.normal(jax.random.key(0), (64, 4))
    y = x[:, 0] * x[:, 1]
    model = Network(nnx.Rngs(0))
    optimizer = nnx.Optimizer(model, optax.adam(1e-2), wrt=nnx.Param)

    @nnx.jit
    def step(model, optimizer):
        def loss(model):
            return jnp.mean((model(x) - y) ** 2)

        value, gradient = nnx.value_and_grad(loss)(model)
        optimizer.update(model, gradient)
        return value

    for _ in range(60):
        value = step(model, optimizer)
        yield value
    model.eval()
    parts = nnx.state(model, nnx.BatchStat)
    return {"loss": value, "here": model(x)[:3], "mean": jax.tree.leaves(parts)[0][:4]}
