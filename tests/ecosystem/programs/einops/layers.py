"""Layers of einops in a network of flax, trained."""

import jax
import optax
from einops.layers.flax import EinMix, Rearrange, Reduce
from flax import linen as nn


class Mixer(nn.Module):
    @nn.compact
    def __call__(self, x):
        sizes = {"h": 4, "w": 4, "p": 2, "q": 2, "c": 1}
        x = Rearrange("b (h p) (w q) c -> b (h w) (p q c)", sizes)(x)
        x = EinMix("b t c -> b t d", "c d", "d", sizes={"c": 4, "d": 16})(x)
        x = x + EinMix("b t c -> b s c", "t s", "s", sizes={"t": 16, "s": 16})(nn.gelu(x))
        return nn.Dense(2)(Reduce("b t c -> b c", "mean")(x))


def run():
    x = jax.random.normal(jax.random.key(0), (32, 8, 8, 1))
    labels = (x.mean((1, 2, 3)) > 0).astype(int)
    model = Mixer()
    params = model.init(jax.random.key(1), x)
    solver = optax.adam(1e-2)
    state = solver.init(params)

    @jax.jit
    def step(params, state):
        def loss(params):
            logits = model.apply(params, x)
            return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()

        value, gradient = jax.value_and_grad(loss)(params)
        updates, state = solver.update(gradient, state)
        return optax.apply_updates(params, updates), state, value

    for _ in range(50):
        params, state, value = step(params, state)
        yield value
    return {"loss": value}
