"""Least squares with the Jacobian of a function as the operator, and structured operators."""

import jax
import jax.numpy as jnp
import lineax as lx


def residual(x, _):
    return jnp.concatenate([jnp.sin(x), x**2 - 1.0, x[:1] * x[1:2]])


def run():
    @jax.jit
    def newton(x):
        operator = lx.JacobianLinearOperator(residual, x)
        step = lx.linear_solve(operator, residual(x, None), lx.QR()).value
        return x - step

    x = jnp.array([0.5, 1.5, 0.7])
    for _ in range(10):
        x = newton(x)
        yield x
    band = lx.TridiagonalLinearOperator(4 * jnp.ones(5), jnp.ones(4), jnp.ones(4))
    diagonal = lx.DiagonalLinearOperator(jnp.arange(1.0, 6.0))
    both = band @ diagonal
    wide = lx.MatrixLinearOperator(jnp.arange(10.0).reshape(2, 5))
    shortest = lx.linear_solve(wide, jnp.ones(2), lx.SVD()).value
    return {
        "x": x,
        "band": lx.linear_solve(band, jnp.ones(5)).value,
        "both": both.mv(jnp.ones(5)),
        "shortest": shortest,
    }
