"""A normalising flow of coupling layers, trained to the density of a ring."""

import distrax
import haiku as hk
import jax
import jax.numpy as jnp
import optax


def flow():
    layers = []
    for number in range(3):
        mask = jnp.arange(2) % 2 == number % 2

        def bijector(params):
            return distrax.ScalarAffine(params[..., 0], log_scale=jnp.tanh(params[..., 1]))

        def conditioner(x):
            network = hk.nets.MLP([16, 4], activate_final=False)
            return network(x).reshape(*x.shape, 2)

        layers.append(distrax.MaskedCoupling(mask, conditioner, bijector))
    base = distrax.MultivariateNormalDiag(jnp.zeros(2), jnp.ones(2))
    return distrax.Transformed(base, distrax.Inverse(distrax.Chain(layers)))


def run():
    angle = jax.random.uniform(jax.random.PRNGKey(0), (256,)) * 6.283
    x = jnp.stack([jnp.cos(angle), jnp.sin(angle)], 1)
    density = hk.without_apply_rng(hk.transform(lambda x: flow().log_prob(x)))
    params = density.init(jax.random.PRNGKey(1), x)
    solver = optax.adam(1e-2)
    state = solver.init(params)

    @jax.jit
    def step(params, state):
        loss = lambda params: -density.apply(params, x).mean()  # noqa: E731
        value, gradient = jax.value_and_grad(loss)(params)
        updates, state = solver.update(gradient, state)
        return optax.apply_updates(params, updates), state, value

    for _ in range(60):
        params, state, value = step(params, state)
        yield value
    return {"loss": jnp.round(value, 1)}
