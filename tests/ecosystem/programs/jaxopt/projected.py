"""Projected and proximal gradients, and a root by bisection."""

import jax
import jax.numpy as jnp
import jaxopt
from jaxopt import projection, prox


def run():
    a = jax.random.normal(jax.random.PRNGKey(0), (20, 6))
    b = a @ jnp.array([0.5, 0.3, 0.2, 0.0, 0.0, 0.0])

    def loss(w, data):
        return jnp.mean((data[0] @ w - data[1]) ** 2)

    simplex = jaxopt.ProjectedGradient(loss, projection.projection_simplex, maxiter=200)
    lasso = jaxopt.ProximalGradient(loss, prox.prox_lasso, maxiter=200)
    for _ in range(5):
        inside = simplex.run(jnp.ones(6) / 6, data=(a, b)).params
        sparse = lasso.run(jnp.zeros(6), 0.01, data=(a, b)).params
        yield inside, sparse
    root = jaxopt.Bisection(lambda x, c: x**3 - x - c, 1.0, 2.0).run(c=2.0).params
    return {"inside": inside, "sparse": sparse, "root": root}
