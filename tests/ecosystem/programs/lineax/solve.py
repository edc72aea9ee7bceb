"""Linear systems by several solvers, with gradients through the solution."""

import jax
import jax.numpy as jnp
import lineax as lx


def run():
    matrix = jax.random.normal(jax.random.key(0), (6, 6)) + 6 * jnp.eye(6)
    vector = jnp.arange(6.0)
    positive = matrix @ matrix.T
    tag = lx.positive_semidefinite_tag
    cases = {
        "lu": (matrix, (), lx.LU()),
        "cholesky": (positive, tag, lx.Cholesky()),
        "cg": (positive, tag, lx.CG(rtol=1e-6, atol=1e-6)),
        "gmres": (matrix, (), lx.GMRES(rtol=1e-5, atol=1e-5)),
    }
    result = {}
    for name, (a, tags, solver) in cases.items():

        @jax.jit
        def solved(a, b, tags=tags, solver=solver):
            operator = lx.MatrixLinearOperator(a, tags)
            return lx.linear_solve(operator, b, solver).value

        gradient = jax.jit(jax.grad(lambda a, b, solved=solved: solved(a, b).sum()))
        for _ in range(5):
            yield solved(a, vector), gradient(a, vector)
        result[name] = solved(a, vector)
        result[name + "_gradient"] = jnp.trace(gradient(a, vector))
    return result
