"""Graph convolution and attention, and graphs apart again."""

import jax
import jax.numpy as jnp
import jraph


def run():
    sent, received = jnp.nonzero(~jnp.eye(6, dtype=bool))
    graph = jraph.GraphsTuple(
        nodes=jnp.eye(6),
        edges=None,
        senders=sent,
        receivers=received,
        n_node=jnp.array([6]),
        n_edge=jnp.array([30]),
        globals=None,
    )
    weights = jax.random.normal(jax.random.PRNGKey(0), (6, 4))
    convolution = jraph.GraphConvolution(lambda x: x @ weights, add_self_edges=True)
    attention = jraph.GAT(
        lambda x: x @ weights,
        lambda sent, received, _: jax.nn.leaky_relu((sent * received).sum(-1, keepdims=True)),
    )
    both = jax.jit(lambda g: (convolution(g).nodes, attention(g).nodes))
    slope = jax.jit(jax.grad(lambda nodes: convolution(graph._replace(nodes=nodes)).nodes.sum()))
    for _ in range(30):
        result = both(graph)
        yield result, slope(graph.nodes)
    parts = jraph.unbatch(jraph.batch([graph, graph]))
    soft = jraph.segment_softmax(jnp.arange(6.0), jnp.array([0, 0, 1, 1, 1, 2]), 3)
    return {"nodes": result[0][0], "attended": result[1][0], "parts": len(parts), "soft": soft}
