"""The minimum of a function of trees of parameters, by evolution of a covariance."""

import jax
import jax.numpy as jnp
from evosax.algorithms import CMA_ES


def fitness(tree):
    w, b = tree["w"], tree["b"]
    return jnp.sum(100 * (w[1:] - w[:-1] ** 2) ** 2 + (1 - w[:-1]) ** 2) + jnp.sum(b**2)


def run():
    solution = {"w": jnp.zeros(4), "b": jnp.ones(2)}
    strategy = CMA_ES(population_size=16, solution=solution)
    parameters = strategy.default_params
    state = strategy.init(jax.random.key(0), solution, parameters)

    @jax.jit
    def step(state, key):
        ask, tell = jax.random.split(key)
        population, state = strategy.ask(ask, state, parameters)
        result = jax.vmap(fitness)(population)
        state, _ = strategy.tell(tell, population, result, state, parameters)
        return state, result.min()

    best = []
    for i in range(20):
        state, least = step(state, jax.random.key(i))
        best.append(least)
        yield least
    return {"best": jnp.stack(best[:6]), "improved": int(state.best_fitness < best[0])}
