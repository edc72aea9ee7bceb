"""Entropic transport between two clouds of points, and its gradient in their positions."""

import jax
import jax.numpy as jnp
from ott.geometry import pointcloud
from ott.problems.linear import linear_problem
from ott.solvers.linear import sinkhorn


def run():
    solver = sinkhorn.Sinkhorn(threshold=1e-4, max_iterations=500)

    def cost(x, y, weights):
        geometry = pointcloud.PointCloud(x, y, epsilon=0.1)
        problem = linear_problem.LinearProblem(geometry, a=weights)
        return solver(problem)

    key, other = jax.random.split(jax.random.key(0))
    x, y = jax.random.normal(key, (20, 2)), jax.random.normal(other, (25, 2)) + 1
    weights = jnp.full(20, 1 / 20)
    solved = jax.jit(cost)
    slope = jax.jit(jax.grad(lambda x, y, w: cost(x, y, w).reg_ot_cost))
    for _ in range(5):
        result = solved(x, y, weights)
        moved = slope(x, y, weights)
        yield result.f, moved
    return {
        "cost": result.reg_ot_cost,
        "plan": result.matrix.sum(1),
        "moved": moved,
        "converged": int(result.converged),
    }
