"""A curve fitted by Levenberg-Marquardt and a function minimised by BFGS."""

import jax
import jax.numpy as jnp
import optimistix as optx


def residuals(params, data):
    x, y = data
    return params["a"] * jnp.exp(-params["b"] * x) + params["c"] - y


def run():
    x = jnp.linspace(0.0, 4.0, 50)
    y = 2.5 * jnp.exp(-1.3 * x) + 0.5
    start = {"a": jnp.array(1.0), "b": jnp.array(1.0), "c": jnp.array(0.0)}

    @jax.jit
    def fit(start):
        solver = optx.LevenbergMarquardt(rtol=1e-6, atol=1e-6)
        return optx.least_squares(residuals, solver, start, args=(x, y)).value

    @jax.jit
    def smallest(start):
        solver = optx.BFGS(rtol=1e-5, atol=1e-5)
        return optx.minimise(lambda y, _: jnp.sum((y - 3.0) ** 4 + y**2), solver, start).value

    for _ in range(10):
        result = fit(start)
        yield result, smallest(jnp.zeros(3))
    return {**result, "smallest": smallest(jnp.zeros(3))}
