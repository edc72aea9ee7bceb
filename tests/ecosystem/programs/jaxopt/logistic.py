"""Regularised regressions, solved and differentiated with respect to the regularisation."""

import jax
import jax.numpy as jnp
import jaxopt


def run():
    x = jax.random.normal(jax.random.PRNGKey(0), (80, 5))
    y = (x @ jnp.array([1.0, -1.0, 2.0, 0.0, 0.5]) > 0).astype(int)

    def objective(w, l2reg, data):
        return jaxopt.objective.binary_logreg(w, data) + 0.5 * l2reg * jnp.sum(w**2)

    solver = jaxopt.LBFGS(objective, maxiter=50, tol=1e-4)
    start = jnp.zeros(5)

    @jax.jit
    def held_out(penalty):
        result = solver.run(start, l2reg=penalty, data=(x[:40], y[:40])).params
        return jaxopt.objective.binary_logreg(result, (x[40:], y[40:]))

    slope = jax.jit(jax.grad(held_out))
    for number in range(10):
        penalty = jnp.array(0.1 + 0.01 * number)
        yield held_out(penalty), slope(penalty)
    return {"loss": held_out(penalty), "slope": slope(penalty)}
