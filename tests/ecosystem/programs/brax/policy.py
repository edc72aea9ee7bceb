"""A policy network and its training by evolution on a quick environment."""

import jax
import jax.numpy as jnp
from brax import envs
from brax.training import networks
from brax.training.acme import running_statistics, specs


def run():
    env = envs.get_environment("fast")
    model = networks.make_policy_network(
        env.action_size * 2, env.observation_size, hidden_layer_sizes=(16,)
    )
    params = model.init(jax.random.PRNGKey(0))
    normal = running_statistics.init_state(specs.Array((env.observation_size,), jnp.float32))

    @jax.jit
    def improved(params, normal, key):
        state = env.reset(key)
        normal = running_statistics.update(normal, state.obs[None])
        leaves, tree = jax.tree.flatten(params)
        keys = jax.random.split(key, len(leaves))
        noise = [0.1 * jax.random.normal(k, (16, *leaf.shape)) for k, leaf in zip(keys, leaves)]

        def fitness(*noise):
            changed = jax.tree.unflatten(tree, [x + n for x, n in zip(leaves, noise)])
            return -jnp.sum((model.apply(normal, changed, state.obs) - 1.0) ** 2)

        scores = jax.vmap(fitness)(*noise)
        weights = (scores - scores.mean()) / (scores.std() + 1e-6)
        moved = [x + 0.05 * jnp.tensordot(weights, n, 1) for x, n in zip(leaves, noise)]
        return jax.tree.unflatten(tree, moved), normal, scores.mean()

    for number in range(30):
        params, normal, score = improved(params, normal, jax.random.PRNGKey(number))
        yield score
    return {"better": score > -10, "mean": normal.mean}
