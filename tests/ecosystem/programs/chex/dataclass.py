"""A training state as a data class, with assertions on shapes and on what is traced once."""

import chex
import jax
import jax.numpy as jnp


@chex.dataclass
class State:
    params: chex.ArrayTree
    steps: chex.Array


def run():
    x = jax.random.normal(jax.random.PRNGKey(0), (64, 4))
    y = x @ jnp.arange(4.0)

    @jax.jit
    @chex.assert_max_traces(n=2)
    def step(state):
        chex.assert_shape(state.params["w"], (4,))
        chex.assert_tree_all_finite({"static": 1.0})
        gradient = jax.grad(lambda p: jnp.mean((x @ p["w"] - y) ** 2))(state.params)
        chex.assert_trees_all_equal_shapes(gradient, state.params)
        params = jax.tree.map(lambda p, g: p - 0.1 * g, state.params, gradient)
        return state.replace(params=params, steps=state.steps + 1)

    state = State(params={"w": jnp.zeros(4)}, steps=jnp.array(0))
    for _ in range(100):
        state = step(state)
        yield state
    chex.assert_trees_all_close(state.params["w"], jnp.arange(4.0), atol=1e-2)
    return {"w": state.params["w"], "steps": state.steps}
