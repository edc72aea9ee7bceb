"""A Gaussian process with the hyperparameters that its likelihood wants, and what it predicts."""

import jax
import jax.numpy as jnp
from tinygp import GaussianProcess, kernels, transforms


def run():
    x = jnp.sort(jax.random.uniform(jax.random.key(0), (40,), maxval=5.0))
    y = jnp.sin(2 * x) + 0.1 * jax.random.normal(jax.random.key(1), x.shape)

    def process(parameters):
        scale, amplitude, noise = jnp.exp(parameters)
        kernel = amplitude * transforms.Linear(1 / scale, kernels.Matern52())
        return GaussianProcess(kernel + 0.1 * kernels.Constant(1.0), x, diag=noise)

    slope = jax.jit(jax.value_and_grad(lambda p: -process(p).log_probability(y)))
    parameters = jnp.array([0.0, 0.0, -3.0])
    values = []
    for _ in range(15):
        value, g = slope(parameters)
        values.append(value)
        parameters = parameters - 0.01 * g
        yield value
    told = process(parameters).condition(y, jnp.linspace(0, 5, 7))
    return {
        "values": jnp.stack(values[:5]),
        "parameters": parameters,
        "mean": told.gp.loc,
        "variance": told.gp.variance,
    }
