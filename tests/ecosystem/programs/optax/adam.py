"""A small regression, trained by Adam with a schedule and clipped gradients."""

import jax
import jax.numpy as jnp
import optax


def model(params, x):
    return jnp.tanh(x @ params["w1"] + params["b1"]) @ params["w2"]


def loss(params, x, y):
    return optax.l2_loss(model(params, x)[:, 0], y).mean()


def run():
    keys = jax.random.split(jax.random.key(0), 3)
    x = jax.random.normal(keys[0], (256, 8))
    y = jnp.sin(x.sum(1))
    params = {
        "w1": jax.random.normal(keys[1], (8, 64)) / 3,
        "b1": jnp.zeros(64),
        "w2": jax.random.normal(keys[2], (64, 1)) / 8,
    }
    schedule = optax.warmup_cosine_decay_schedule(0.0, 1e-2, 20, 200)
    solver = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(schedule))
    state = solver.init(params)

    @jax.jit
    def step(params, state):
        value, gradient = jax.value_and_grad(loss)(params, x, y)
        updates, state = solver.update(gradient, state, params)
        return optax.apply_updates(params, updates), state, value

    for _ in range(200):
        params, state, value = step(params, state)
        yield value
    return {"loss": value, "norm": optax.global_norm(params)}
