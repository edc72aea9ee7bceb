"""Solvers, geometries and tools of ott, against what is known of their results."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.linalg
import scipy.optimize
import scipy.stats
from ott.experimental import mmsinkhorn
from ott.geometry import costs, geometry, graph, grid, low_rank, pointcloud, regularizers
from ott.math import matrix_square_root, utils as math_utils
from ott.problems.linear import barycenter_problem, linear_problem
from ott.solvers import linear, quadratic
from ott.solvers.linear import (
    acceleration,
    continuous_barycenter,
    discrete_barycenter,
    implicit_differentiation,
    sinkhorn,
)
from ott.tools import k_means, sinkhorn_divergence, sliced, soft_sort, unreg
from ott.tools.gaussian_mixture import fit_gmm, gaussian

N, M = 11, 14


def clouds(dimensions=2):
    x, y = jax.random.split(jax.random.key(0))
    return (
        jax.random.normal(x, (N, dimensions)),
        jax.random.uniform(y, (M, dimensions)) + 0.3,
    )


def weights(n, seed=1):
    result = jax.random.uniform(jax.random.key(seed), (n,), minval=0.5)
    return result / result.sum()


def marginals(plan, a, b, atol=2e-3):
    np.testing.assert_allclose(plan.sum(1), a, atol=atol)
    np.testing.assert_allclose(plan.sum(0), b, atol=atol)


@pytest.mark.parametrize("lse_mode", [True, False])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"momentum": acceleration.Momentum(start=20, value=1.2)},
        {"anderson": acceleration.AndersonAcceleration(memory=3, refresh_every=2)},
        {"parallel_dual_updates": True},
        {"recenter_potentials": True},
    ],
    ids=lambda options: next(iter(options), "plain"),
)
def test_marginals(lse_mode, options):
    x, y = clouds()
    a, b = weights(N), weights(M, 2)
    if not lse_mode and options:
        options = {k: v for k, v in options.items() if k == "momentum"}
    cloud = pointcloud.PointCloud(x, y, epsilon=0.3)
    out = jax.jit(lambda c: linear.solve(c, a, b, lse_mode=lse_mode, **options))(cloud)
    assert out.converged
    marginals(out.matrix, a, b)
    np.testing.assert_allclose(out.marginal(0), out.matrix.sum(0), rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(out.apply(jnp.ones(M), axis=1), out.matrix.sum(1), rtol=1e-4)
    np.testing.assert_allclose(out.primal_cost, (out.matrix * cloud.cost_matrix).sum(), rtol=1e-3)


def test_a_small_epsilon_approaches_the_assignment():
    x = jax.random.normal(jax.random.key(3), (9, 3))
    y = jax.random.normal(jax.random.key(4), (9, 3))
    cost = np.square(np.asarray(x)[:, None] - np.asarray(y)[None]).sum(-1)
    rows, columns = scipy.optimize.linear_sum_assignment(cost)
    best = cost[rows, columns].mean()
    out = linear.solve(pointcloud.PointCloud(x, y, epsilon=1e-2), max_iterations=20000)
    np.testing.assert_allclose(out.primal_cost, best, rtol=2e-2)
    result, _ = jax.jit(lambda x, y: unreg.hungarian(pointcloud.PointCloud(x, y)))(x, y)
    np.testing.assert_allclose(result, best, rtol=1e-5)
    np.testing.assert_allclose(unreg.wassdis_p(x, y, p=2.0), best**0.5, rtol=1e-4)


@pytest.mark.parametrize("implicit", [True, False])
@pytest.mark.parametrize("argument", ["points", "weights", "cost"])
def test_gradients_are_those_of_differences(implicit, argument):
    x, y = clouds()
    a = weights(N)
    rule = implicit_differentiation.ImplicitDiff() if implicit else None
    probe = jnp.linspace(-1.0, 1.0, M)

    def value(x, a, cost):
        if argument == "cost":
            geom = geometry.Geometry(cost_matrix=cost, epsilon=0.5)
        else:
            geom = pointcloud.PointCloud(x, y, epsilon=0.5)
        out = sinkhorn.Sinkhorn(
            threshold=1e-5, implicit_diff=rule, min_iterations=300, max_iterations=300
        )(linear_problem.LinearProblem(geom, a=a))
        return out.reg_ot_cost + 0.1 * jnp.vdot(out.apply(probe, axis=1), jnp.arange(N) / N)

    cost = pointcloud.PointCloud(x, y).cost_matrix
    number = ["points", "weights", "cost"].index(argument)
    slope = jax.jit(jax.grad(value, number))(x, a, cost)
    given = [x, a, cost]
    direction = jax.random.normal(jax.random.key(5), given[number].shape)
    if argument == "weights":
        direction -= direction.mean()

    def moved(step):
        now = list(given)
        now[number] = given[number] + step * direction
        return jax.jit(value)(*now)

    step = 2e-3
    expected = (moved(step) - moved(-step)) / (2 * step)
    np.testing.assert_allclose(jnp.vdot(slope, direction), expected, rtol=4e-2, atol=4e-3)


def test_the_hessian_is_symmetric():
    x, y = clouds()
    solver = sinkhorn.Sinkhorn(threshold=1e-4)

    def value(x):
        geom = pointcloud.PointCloud(x, y, epsilon=1.0)
        return solver(linear_problem.LinearProblem(geom)).reg_ot_cost

    hessian = jax.jit(jax.hessian(value))(x[:5]).reshape(10, 10)
    assert np.isfinite(hessian).all()
    np.testing.assert_allclose(hessian, hessian.T, atol=2e-2)


def test_several_problems_at_once():
    x, y = clouds()
    scales = jnp.array([0.5, 1.0, 2.0])

    def one(s):
        return linear.solve(pointcloud.PointCloud(s * x, y, epsilon=0.5)).reg_ot_cost

    np.testing.assert_allclose(jax.vmap(one)(scales), [one(s) for s in scales], rtol=1e-3)


@pytest.mark.parametrize("tau", [0.9, 0.5])
def test_an_unbalanced_problem_moves_less(tau):
    x, y = clouds()
    cloud = pointcloud.PointCloud(x, y + 2, epsilon=0.5)
    mass = linear.solve(cloud, tau_a=tau, tau_b=tau).matrix.sum()
    assert 0 < mass < 1
    assert mass > linear.solve(cloud, tau_a=tau / 2, tau_b=tau / 2).matrix.sum()


@pytest.mark.parametrize("gamma_rescale", [True, False])
def test_low_rank_plans(gamma_rescale):
    x, y = clouds()
    a, b = weights(N), weights(M, 2)
    cloud = pointcloud.PointCloud(x, y)
    out = linear.solve(cloud, a, b, rank=4, gamma_rescale=gamma_rescale, epsilon=1e-2)
    marginals(out.matrix, a, b, atol=1e-2)
    assert np.linalg.matrix_rank(out.matrix, tol=1e-5) <= 4
    low = cloud.to_LRCGeometry()
    assert isinstance(low, low_rank.LRCGeometry)
    np.testing.assert_allclose(low.cost_matrix, cloud.cost_matrix, atol=1e-4)


@pytest.mark.parametrize("lse_mode", [True, False])
def test_a_grid_is_its_points(lse_mode):
    sizes = (4, 3)
    flat = grid.Grid(grid_size=sizes, epsilon=0.2)
    axes = [jnp.linspace(0, 1, n) for n in sizes]
    points = jnp.stack([p.ravel() for p in jnp.meshgrid(*axes, indexing="ij")], 1)
    a, b = weights(12), weights(12, 2)
    mine = linear.solve(flat, a, b, lse_mode=lse_mode)
    whole = pointcloud.PointCloud(points, epsilon=0.2)
    other = linear.solve(whole, a, b, lse_mode=lse_mode)
    np.testing.assert_allclose(mine.reg_ot_cost, other.reg_ot_cost, rtol=1e-3)


@pytest.mark.parametrize(
    "cost",
    [
        costs.SqEuclidean(),
        costs.Euclidean(),
        costs.Cosine(),
        costs.Arccos(1),
        costs.PNormP(1.5),
        costs.SqPNorm(1.5),
        costs.EuclideanP(1.5),
        costs.NegDotProduct(),
        costs.RegTICost(regularizers.L1(), lam=0.5),
        costs.SoftDTW(0.1),
    ],
    ids=lambda cost: type(cost).__name__,
)
def test_a_cost_of_all_pairs_and_its_slope(cost):
    x, y = clouds(4)
    every = cost.all_pairs(x, y)
    each = np.array([[cost(p, q) for q in y] for p in x[:3]])
    np.testing.assert_allclose(every[:3], each, rtol=1e-3, atol=1e-3)
    slope = jax.jit(jax.grad(lambda p: cost(p, y[0])))(x[0])
    step = 1e-2
    differences = [
        (cost(x[0] + step * e, y[0]) - cost(x[0] - step * e, y[0])) / (2 * step) for e in jnp.eye(4)
    ]
    np.testing.assert_allclose(slope, differences, rtol=3e-2, atol=2e-2)


@pytest.mark.parametrize("kind", [costs.SqPNorm(1.7), costs.PNormP(2.4), costs.SqEuclidean()])
def test_a_convex_conjugate(kind):
    z = jnp.array([0.4, -1.2, 0.7])
    at = jax.grad(kind.h)(z)
    np.testing.assert_allclose(kind.h(z) + kind.h_legendre(at), jnp.vdot(z, at), rtol=1e-3)


@pytest.mark.parametrize("scheme", ["crank_nicolson", "backward_euler"])
def test_heat_on_a_ring(scheme):
    ring = jnp.roll(jnp.eye(8), 1, 0) + jnp.roll(jnp.eye(8), -1, 0)
    geom = graph.Graph.from_graph(ring, n_steps=60, numerical_scheme=scheme, t=0.5)
    kernel = np.asarray(geom.kernel_matrix)
    np.testing.assert_allclose(kernel, kernel.T, rtol=1e-2, atol=1e-4)
    assert (np.diff(kernel[0, :5]) < 0).all()  # less, the farther away
    out = jax.jit(partial(linear.solve, lse_mode=False))(geom, weights(8), weights(8, 2))
    marginals(out.matrix, weights(8), weights(8, 2))


def test_quadratic_problems():
    x, _ = clouds()
    turn = jnp.array([[0.0, -1.0], [1.0, 0.0]])
    one, other = pointcloud.PointCloud(x), pointcloud.PointCloud(x @ turn)
    solve = jax.jit(lambda one, other: quadratic.solve(one, other, epsilon=1e-1))
    out = solve(one, other)
    marginals(out.matrix, jnp.full(N, 1 / N), jnp.full(N, 1 / N))
    cost = np.asarray(out.primal_cost)
    assert abs(cost) < 1.0
    mixed = quadratic.solve(
        one, other, pointcloud.PointCloud(x, x @ turn), fused_penalty=2.0, epsilon=0.5
    )
    marginals(mixed.matrix, jnp.full(N, 1 / N), jnp.full(N, 1 / N))
    low = quadratic.solve(one, other, rank=3, epsilon=0.5)
    assert np.linalg.matrix_rank(low.matrix, tol=1e-5) <= 3


def test_barycenters_of_histograms():
    line = jnp.linspace(0, 1, 21)[:, None]
    geom = pointcloud.PointCloud(line, epsilon=1e-2)
    both = jnp.exp(-((line[:, 0] - jnp.array([[0.25], [0.75]])) ** 2) / 0.005)
    both /= both.sum(1, keepdims=True)
    problem = barycenter_problem.FixedBarycenterProblem(geom, both)
    result = jax.jit(discrete_barycenter.FixedBarycenter(threshold=1e-3))(problem).histogram
    np.testing.assert_allclose(jnp.vdot(result, line[:, 0]), 0.5, atol=1e-2)
    assert result.argmax() == 10


def test_barycenters_of_points():
    x, _ = clouds()
    y, b = jnp.stack([x - 1.0, x + 1.0]), jnp.full((2, N), 1 / N)
    problem = barycenter_problem.FreeBarycenterProblem(y, b, epsilon=0.1)
    solver = continuous_barycenter.FreeWassersteinBarycenter(linear_solver=sinkhorn.Sinkhorn())
    state = jax.jit(solver, static_argnames="bar_size")(problem, bar_size=N, x_init=x)
    np.testing.assert_allclose(state.x.mean(0), x.mean(0), atol=5e-2)


def test_divergences():
    x, y = clouds()
    divergence = jax.jit(lambda x, y: sinkhorn_divergence.sinkdiv(x, y, epsilon=0.1)[0])
    np.testing.assert_allclose(divergence(x, x), 0.0, atol=1e-4)
    assert divergence(x, y) > 1e-2
    slope = jax.grad(lambda x: divergence(x, y))(x)
    assert divergence(x - 0.05 * N * slope, y) < divergence(x, y)


def test_segments():
    x, y = clouds()
    result = sinkhorn_divergence.segment_sinkhorn_divergence(
        jnp.concatenate([x, x + 1]), jnp.concatenate([y, y]), num_segments=2,
        max_measure_size=M, num_per_segment_x=(N, N), num_per_segment_y=(M, M), epsilon=0.5,
    )  # fmt: skip
    each = [sinkhorn_divergence.sinkdiv(z, y, epsilon=0.5)[0] for z in (x, x + 1)]
    np.testing.assert_allclose(result, each, rtol=2e-2, atol=2e-3)


def test_soft_sorts():
    x = jnp.array([0.3, -1.0, 2.0, 0.7, 1.5])
    np.testing.assert_allclose(soft_sort.sort(x, epsilon=1e-3), jnp.sort(x), atol=2e-2)
    ranks = soft_sort.ranks(x, epsilon=1e-3)
    np.testing.assert_allclose(ranks, jnp.argsort(jnp.argsort(x)), atol=5e-2)
    middle = soft_sort.quantile(x, q=0.5, weight=0.2, epsilon=1e-3)
    np.testing.assert_allclose(middle, [0.7], atol=5e-2)
    slope = jax.grad(lambda x: soft_sort.sort(x, epsilon=1e-2)[-1])(x)
    assert slope.argmax() == 2
    whole = jax.vmap(lambda x: soft_sort.sort(x, epsilon=1e-2))(jnp.stack([x, -x]))
    np.testing.assert_allclose(whole, soft_sort.sort(jnp.stack([x, -x]), axis=1), atol=1e-3)


@pytest.mark.parametrize("dual", [False, True])
def test_on_a_line(dual):
    x, y = clouds(1)
    geom = pointcloud.PointCloud(x, y, cost_fn=costs.PNormP(1.0))
    a, b = weights(N), weights(M, 2)
    out = linear.solve_univariate(geom, a, b, return_transport=not dual, return_dual_variables=dual)
    expected = scipy.stats.wasserstein_distance(x[:, 0], y[:, 0], a, b)
    np.testing.assert_allclose(out.ot_costs, [expected], rtol=1e-3)
    if dual:
        np.testing.assert_allclose(out.dual_costs, [expected], rtol=1e-3)
    else:
        marginals(out.mean_transport_matrix.todense(), a, b)


def test_slices():
    x, y = clouds(3)
    result, _ = jax.jit(lambda x, y: sliced.sliced_wasserstein(x, y, n_proj=50))(x, y)
    same, _ = sliced.sliced_wasserstein(x, x, n_proj=50)
    assert result > 1e-2 and abs(same) < 1e-5


def test_square_roots_of_matrices():
    factor = jax.random.normal(jax.random.key(6), (5, 5))
    matrix = factor @ factor.T + jnp.eye(5)
    root, inverse, _ = jax.jit(matrix_square_root.sqrtm)(matrix)
    np.testing.assert_allclose(root, scipy.linalg.sqrtm(matrix), rtol=1e-2, atol=1e-3)
    np.testing.assert_allclose(root @ inverse, jnp.eye(5), atol=1e-3)
    direction = jnp.ones((5, 5)) / 5
    slope = jax.grad(lambda m: jnp.trace(matrix_square_root.sqrtm_only(m)))(matrix)
    expected = 0.5 * np.trace(np.linalg.solve(scipy.linalg.sqrtm(matrix), direction))
    np.testing.assert_allclose(jnp.vdot(slope, direction), expected, rtol=1e-2)


def test_a_logarithm_of_sums_without_terms():
    x = jnp.array([[0.0, 1.0], [-jnp.inf, -jnp.inf]])
    slope = jax.grad(lambda x: jnp.where(jnp.isfinite(s := math_utils.logsumexp(x, 1)), s, 0).sum())
    np.testing.assert_allclose(slope(x)[0], jax.nn.softmax(x[0]), rtol=1e-5)
    assert np.isfinite(slope(x)).all()
    np.testing.assert_allclose(jax.grad(lambda x: math_utils.norm(x - x))(jnp.ones(3)), 0)


def test_clusters():
    centres = jnp.array([[0.0, 0.0], [8.0, 0.0], [0.0, 8.0]])
    x = (centres[:, None] + 0.3 * jax.random.normal(jax.random.key(7), (3, 12, 2))).reshape(-1, 2)
    geom = pointcloud.PointCloud(x)
    out = jax.jit(k_means.k_means, static_argnames="k")(geom, k=3, rng=jax.random.key(1))
    labels = np.asarray(out.assignment).reshape(3, 12)
    assert (labels == labels[:, :1]).all() and len({*labels[:, 0].tolist()}) == 3
    assert out.converged


def test_gaussians():
    one = gaussian.Gaussian.from_mean_and_cov(jnp.zeros(2), jnp.diag(jnp.array([1.0, 4.0])))
    other = gaussian.Gaussian.from_mean_and_cov(jnp.ones(2), jnp.diag(jnp.array([9.0, 1.0])))
    np.testing.assert_allclose(one.w2_dist(other), 2 + 4 + 1, rtol=1e-3)
    points = one.sample(jax.random.key(0), 20)
    logs = scipy.stats.multivariate_normal([0, 0], [[1, 0], [0, 4]]).logpdf(points)
    np.testing.assert_allclose(one.log_prob(points), logs, rtol=1e-3, atol=1e-3)
    moved = 1 + points * jnp.array([3.0, 0.5])
    np.testing.assert_allclose(one.transport(other, points), moved, rtol=1e-2, atol=1e-2)


def test_mixtures():
    key, other = jax.random.split(jax.random.key(8))
    x = jnp.concatenate([jax.random.normal(key, (40, 2)), jax.random.normal(other, (40, 2)) + 7])
    mixture = fit_gmm.initialize(jax.random.key(2), x, jnp.ones(80), n_components=2)
    mixture = fit_gmm.fit_model_em(mixture, x, jnp.ones(80), steps=20)
    means = np.sort(np.asarray(mixture.loc).mean(1))
    np.testing.assert_allclose(means, [0, 7], atol=0.5)


def test_three_marginals():
    x, y = clouds()
    out = jax.jit(mmsinkhorn.MMSinkhorn())((x, y, x[:6]), epsilon=1.0)
    assert out.converged and out.tensor.shape == (N, M, 6)
    for result, n in zip(out.marginals, (N, M, 6)):
        np.testing.assert_allclose(result, np.full(n, 1 / n), atol=2e-3)
