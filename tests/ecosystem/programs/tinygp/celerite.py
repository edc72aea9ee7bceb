"""Processes whose matrices are quasiseparable, which are solved in linear time."""

import jax
import jax.numpy as jnp
from tinygp import GaussianProcess
from tinygp.kernels import quasisep


def run():
    x = jnp.linspace(0, 10, 60)
    y = jnp.cos(1.7 * x) * jnp.exp(-0.05 * x)

    def process(parameters):
        sigma, rho, omega = jnp.exp(parameters)
        kernel = sigma**2 * quasisep.Matern32(rho) + quasisep.Celerite(1.0, 0.5, 0.1, omega)
        return GaussianProcess(kernel, x, diag=0.05)

    likelihood = jax.jit(lambda p: process(p).log_probability(y))
    slope = jax.jit(jax.grad(likelihood))
    parameters = jnp.array([-0.5, 0.2, 0.5])
    for i in range(10):
        result = likelihood(parameters), slope(parameters + 0.01 * i)
        yield result
    drawn = process(parameters).sample(jax.random.key(0))
    told = process(parameters).condition(y, jnp.array([0.5, 3.3, 9.7]))
    return {
        "likelihood": result[0],
        "slope": slope(parameters),
        "drawn": drawn[:5],
        "mean": told.gp.loc,
        "variance": told.gp.variance,
    }
