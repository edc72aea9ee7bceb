"""Soft sorting and ranking, and a quadratic problem."""

import jax
import jax.numpy as jnp
from ott.geometry import pointcloud
from ott.problems.quadratic import quadratic_problem
from ott.solvers.linear import sinkhorn
from ott.solvers.quadratic import gromov_wasserstein
from ott.tools import soft_sort


def run():
    x = jnp.array([0.3, -1.0, 2.0, 0.7, 1.5])
    ranks = jax.jit(lambda x: soft_sort.ranks(x, epsilon=0.05))
    ordered = jax.jit(lambda x: soft_sort.sort(x, epsilon=0.05))
    for _ in range(3):
        result = ranks(x), ordered(x)
        yield result
    a = jax.random.normal(jax.random.key(0), (8, 2))
    b = jnp.concatenate([a[:, ::-1], jnp.zeros((8, 1))], 1)
    problem = quadratic_problem.QuadraticProblem(pointcloud.PointCloud(a), pointcloud.PointCloud(b))
    solver = gromov_wasserstein.GromovWasserstein(
        linear_solver=sinkhorn.Sinkhorn(), epsilon=0.05, max_iterations=10
    )
    out = jax.jit(solver)(problem)
    yield out.matrix
    return {"ranks": result[0], "sorted": result[1], "quadratic": out.reg_gw_cost}
