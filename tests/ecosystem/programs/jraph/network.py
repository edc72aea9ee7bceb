"""A graph network over a padded batch of graphs, trained to sum what edges carry."""

import haiku as hk
import jax
import jax.numpy as jnp
import jraph
import optax


def graph(seed):
    keys = jax.random.split(jax.random.PRNGKey(seed), 4)
    return jraph.GraphsTuple(
        nodes=jax.random.normal(keys[0], (5, 3)),
        edges=jax.random.normal(keys[1], (8, 2)),
        senders=jax.random.randint(keys[2], (8,), 0, 5),
        receivers=jax.random.randint(keys[3], (8,), 0, 5),
        n_node=jnp.array([5]),
        n_edge=jnp.array([8]),
        globals=jnp.zeros((1, 1)),
    )


def network(batch):
    @jraph.concatenated_args
    def update(features):
        return hk.nets.MLP([16, 4])(features)

    embedded = jraph.GraphNetwork(update, update, update)(batch)
    return hk.Linear(1)(embedded.globals)


def run():
    batch = jraph.pad_with_graphs(jraph.batch([graph(n) for n in range(4)]), 32, 48, 5)
    mask = jraph.get_graph_padding_mask(batch)
    target = jraph.segment_sum(
        batch.edges[:, :1], jnp.repeat(jnp.arange(5), batch.n_edge, total_repeat_length=48), 5
    )
    model = hk.without_apply_rng(hk.transform(network))
    params = model.init(jax.random.PRNGKey(9), batch)
    solver = optax.adam(1e-2)
    state = solver.init(params)

    @jax.jit
    def step(params, state):
        def loss(params):
            return jnp.sum(mask[:, None] * (model.apply(params, batch) - target) ** 2)

        value, gradient = jax.value_and_grad(loss)(params)
        updates, state = solver.update(gradient, state)
        return optax.apply_updates(params, updates), state, value

    for _ in range(50):
        params, state, value = step(params, state)
        yield value
    return {"loss": value, "mask": str(mask.tolist())}
