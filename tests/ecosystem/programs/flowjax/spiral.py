"""A masked autoregressive flow, fitted to points on a spiral."""

import equinox as eqx
import jax
import jax.numpy as jnp
from flowjax.distributions import Normal
from flowjax.flows import masked_autoregressive_flow
from flowjax.train import fit_to_data


def run():
    key, noise = jax.random.split(jax.random.key(0))
    angle = jax.random.uniform(key, (256,), maxval=6.0)
    points = jnp.stack([angle * jnp.cos(angle), angle * jnp.sin(angle)], 1) / 4
    points = points + 0.05 * jax.random.normal(noise, points.shape)
    flow = masked_autoregressive_flow(
        jax.random.key(1), base_dist=Normal(jnp.zeros(2)), flow_layers=2, nn_width=8
    )
    density = eqx.filter_jit(lambda f, x: f.log_prob(x))
    before = density(flow, points).mean()
    yield before
    flow, losses = fit_to_data(
        jax.random.key(2), flow, points, max_epochs=3, batch_size=64, show_progress=False
    )
    for _ in range(3):
        result = density(flow, points)
        yield result
    drawn = flow.sample(jax.random.key(3), (5,))
    return {
        "before": before,
        "losses": jnp.array(losses["train"]),
        "densities": result[:5],
        "drawn": drawn,
    }
