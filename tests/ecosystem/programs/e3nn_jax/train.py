"""An equivariant network of flax over the neighbours of points, trained."""

import e3nn_jax as e3nn
import flax.linen as nn
import jax
import jax.numpy as jnp
import optax


class Network(nn.Module):
    @nn.compact
    def __call__(self, positions):
        sent, received = jnp.nonzero(~jnp.eye(4, dtype=bool), size=12)
        edges = e3nn.IrrepsArray("1o", positions[received] - positions[sent])
        harmonics = e3nn.spherical_harmonics("0e + 1o + 2e", edges, True)
        messages = e3nn.flax.Linear("8x0e + 4x1o + 4x2e")(harmonics)
        nodes = e3nn.scatter_sum(messages, dst=received, output_size=4)
        nodes = e3nn.gate(e3nn.flax.Linear("8x0e + 8x0e + 4x1o + 4x2e")(nodes))
        return e3nn.flax.Linear("0e")(nodes).array.sum()


def run():
    points = jax.random.normal(jax.random.PRNGKey(0), (16, 4, 3))
    target = jnp.linalg.norm(points, axis=(1, 2))
    model = Network()
    params = model.init(jax.random.PRNGKey(1), points[0])
    solver = optax.adam(1e-2)
    state = solver.init(params)

    @jax.jit
    def step(params, state):
        def loss(params):
            result = jax.vmap(model.apply, (None, 0))(params, points)
            return jnp.mean((result - target) ** 2)

        value, gradient = jax.value_and_grad(loss)(params)
        updates, state = solver.update(gradient, state)
        return optax.apply_updates(params, updates), state, value

    for _ in range(30):
        params, state, value = step(params, state)
        yield value
    return {"loss": jnp.round(value, 2)}
