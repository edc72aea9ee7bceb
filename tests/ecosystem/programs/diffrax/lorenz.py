"""The gradient of a solution of Lorenz's equations with respect to their parameters."""

import diffrax
import jax
import jax.numpy as jnp


def lorenz(t, y, parameters):
    sigma, rho, beta = parameters
    x, y, z = y
    return jnp.stack([sigma * (y - x), x * (rho - z) - y, x * y - beta * z])


def run():
    @jax.jit
    def solved(parameters):
        solution = diffrax.diffeqsolve(
            diffrax.ODETerm(lorenz),
            diffrax.Tsit5(),
            t0=0.0,
            t1=1.0,
            dt0=0.01,
            y0=jnp.array([1.0, 1.0, 1.0]),
            args=parameters,
            saveat=diffrax.SaveAt(ts=jnp.linspace(0.0, 1.0, 11)),
            stepsize_controller=diffrax.PIDController(rtol=1e-5, atol=1e-6),
        )
        return solution.ys

    gradient = jax.jit(jax.grad(lambda p: jnp.mean(solved(p)[-1])))
    parameters = jnp.array([10.0, 28.0, 8.0 / 3.0])
    for number in range(20):
        slope = gradient(parameters * (1 + 0.001 * number))
        yield slope
    return {"end": solved(parameters)[-1], "gradient": gradient(parameters)}
