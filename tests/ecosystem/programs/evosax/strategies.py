"""Several strategies on one function, each a scan over its generations."""

import jax
import jax.numpy as jnp
from evosax.algorithms import PGPE, SNES, DifferentialEvolution, Open_ES


def run():
    solution = jnp.full(3, 2.0)

    def fitness(x):
        return jnp.sum(x**2) + 3 * jnp.sum(1 - jnp.cos(x))

    result = {}
    for kind in (Open_ES, PGPE, SNES):
        strategy = kind(population_size=12, solution=solution)
        parameters = strategy.default_params

        @jax.jit
        def evolved(key, strategy=strategy, parameters=parameters):
            def generation(state, key):
                population, state = strategy.ask(key, state, parameters)
                values = jax.vmap(fitness)(population)
                state, _ = strategy.tell(key, population, values, state, parameters)
                return state, values.mean()

            state = strategy.init(key, solution, parameters)
            return jax.lax.scan(generation, state, jax.random.split(key, 10))[1]

        for _ in range(2):
            means = evolved(jax.random.key(0))
            yield means
        result[kind.__name__] = means[:5]
    strategy = DifferentialEvolution(population_size=8, solution=solution)
    population = jax.random.normal(jax.random.key(1), (8, 3))
    state = strategy.init(
        jax.random.key(2), population, jax.vmap(fitness)(population), strategy.default_params
    )
    population, state = strategy.ask(jax.random.key(3), state, strategy.default_params)
    return {**result, "population": population[0]}
