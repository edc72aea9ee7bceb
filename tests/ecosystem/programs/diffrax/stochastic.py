"""A stochastic differential equation over a Brownian tree, and a trained neural equation."""

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import optax


def brownian(key):
    def drift(t, y, args):
        return -y

    def diffusion(t, y, args):
        return 0.1 * t

    tree = diffrax.VirtualBrownianTree(0.0, 1.0, tol=1e-3, shape=(), key=key)
    terms = diffrax.MultiTerm(diffrax.ODETerm(drift), diffrax.ControlTerm(diffusion, tree))
    saved = diffrax.SaveAt(dense=True)
    return diffrax.diffeqsolve(
        terms, diffrax.Euler(), 0.0, 1.0, 0.05, y0=1.0, saveat=saved
    ).evaluate(0.7)


def run():
    paths = jax.jit(jax.vmap(brownian))(jax.random.split(jax.random.key(0), 16))
    field = eqx.nn.MLP(2, 2, 16, 2, jnp.tanh, key=jax.random.key(1))
    times = jnp.linspace(0.0, 1.0, 5)
    target = jnp.stack([jnp.cos(times), -jnp.sin(times)], 1)
    solver = optax.adam(1e-2)
    state = solver.init(eqx.filter(field, eqx.is_array))

    @eqx.filter_value_and_grad
    def loss(field):
        term = diffrax.ODETerm(lambda t, y, args: field(y))
        saved = diffrax.SaveAt(ts=times)
        solution = diffrax.diffeqsolve(term, diffrax.Heun(), 0.0, 1.0, 0.1, target[0], saveat=saved)
        return jnp.mean((solution.ys - target) ** 2)

    @eqx.filter_jit
    def step(field, state):
        value, gradient = loss(field)
        updates, state = solver.update(gradient, state)
        return eqx.apply_updates(field, updates), state, value

    for _ in range(50):
        field, state, value = step(field, state)
        yield value
    return {"paths": paths, "loss": value}
