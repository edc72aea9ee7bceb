"""Each algorithm of evosax, step by step and as a scan, and the functions that it optimises."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from evosax.algorithms import algorithms, population_based_algorithms
from evosax.core import fitness_shaping
from evosax.problems import BBOBProblem, bbob_fns

SIZE, DIMENSIONS, GENERATIONS = 16, 3, 6
GROUPS = {"SV_CMA_ES": 2, "SV_Open_ES": 2}


@pytest.fixture(scope="module")
def problem():
    return BBOBProblem("ellipsoidal", DIMENSIONS, seed=1)


def begun(name, problem):
    """An algorithm and its first state."""
    key, other = jax.random.split(jax.random.key(0))
    solution = problem.sample(key)
    options = {"RandomSearch": {"sampling_fn": problem.sample}}.get(name, {})
    if name in GROUPS:
        options = {"num_populations": GROUPS[name]}
        solution_or_more = jax.vmap(problem.sample)(jax.random.split(other, GROUPS[name]))
    else:
        solution_or_more = solution
    algorithm = algorithms[name](population_size=SIZE, solution=solution, **options)
    parameters = algorithm.default_params
    if name in population_based_algorithms:
        population = jax.vmap(problem.sample)(jax.random.split(other, SIZE))
        fitness, _, _ = problem.eval(key, population, problem.init(key))
        return algorithm, algorithm.init(key, population, fitness, parameters)
    return algorithm, algorithm.init(key, solution_or_more, parameters)


def generation(algorithm, problem, state, key):
    """The next state, the best fitness so far, and that of all of this generation."""
    ask, tell = jax.random.split(key)
    parameters = algorithm.default_params
    population, state = algorithm.ask(ask, state, parameters)
    fitness, _, _ = problem.eval(tell, population, problem.init(tell))
    state, told = algorithm.tell(tell, population, fitness, state, parameters)
    return state, (told["best_fitness"], fitness)


@pytest.mark.parametrize("name", algorithms)
def test_generations(name, problem):
    algorithm, state = begun(name, problem)
    best = []
    for key in jax.random.split(jax.random.key(1), GENERATIONS):
        state, (least, fitness) = generation(algorithm, problem, state, key)
        best.append(float(least.min()))  # of each population, where there are several
        assert np.isfinite(fitness).all() and best[-1] <= fitness.min()
    assert best == sorted(best, reverse=True)
    assert np.all(state.generation_counter == GENERATIONS)


@pytest.mark.parametrize("name", algorithms)
def test_a_scan_of_generations_is_the_same(name, problem):
    algorithm, first = begun(name, problem)
    keys = jax.random.split(jax.random.key(1), GENERATIONS)
    state, (best, _) = jax.lax.scan(
        lambda state, key: generation(algorithm, problem, state, key), first, keys
    )
    for key in keys[:3]:
        first, (least, _) = generation(algorithm, problem, first, key)
    np.testing.assert_allclose(best[2], least, rtol=1e-3)
    assert np.all(state.generation_counter == GENERATIONS)


@pytest.mark.parametrize("name", algorithms)
def test_several_runs_at_once(name, problem):
    algorithm, state = begun(name, problem)
    keys = jax.random.split(jax.random.key(2), 3)

    def step(key):
        return generation(algorithm, problem, state, key)[1][1]

    each = np.stack([step(key) for key in keys])
    np.testing.assert_allclose(jax.vmap(step)(keys), each, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("name", bbob_fns)
def test_a_function_is_least_at_its_optimum(name):
    problem = BBOBProblem(name, DIMENSIONS, f_opt=0.0, seed=3)
    key = jax.random.key(0)
    points = jax.random.uniform(key, (64, DIMENSIONS), minval=-4.0, maxval=4.0)
    values, _, _ = problem.eval(key, points, problem.init(key))
    assert np.isfinite(values).all() and np.ptp(values) > 0
    one = jax.vmap(lambda x: problem.eval(key, x[None], problem.init(key))[0][0])(points)
    np.testing.assert_allclose(one, values, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", ["sphere", "ellipsoidal", "rastrigin", "discus", "bent_cigar"])
def test_the_least_value_is_at_the_optimum(name):
    problem = BBOBProblem(name, DIMENSIONS, f_opt=5.0, seed=3)
    key = jax.random.key(0)
    value, _, _ = problem.eval(key, problem.x_opt[None], problem.init(key))
    np.testing.assert_allclose(value, [5.0], rtol=1e-4)


def test_shapes_of_fitness():
    fitness = jnp.array([3.0, 1.0, 2.0])
    ranks = fitness_shaping.centered_rank_fitness_shaping_fn(None, fitness, None, None)
    np.testing.assert_allclose(ranks, [0.5, -0.5, 0.0])
    standard = fitness_shaping.standardize_fitness_shaping_fn(None, fitness, None, None)
    np.testing.assert_allclose(standard, (fitness - 2) / np.sqrt(2 / 3), rtol=1e-5)
