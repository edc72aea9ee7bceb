"""Poses fitted to measurements of their differences, by gradients on the manifold."""

import jax
import jax.numpy as jnp
import jaxlie


def run():
    keys = jax.random.split(jax.random.key(0), 2)
    true = jaxlie.SE3.exp(jax.random.normal(keys[0], (5, 6)) * 0.5)
    start = true @ jaxlie.SE3.exp(jax.random.normal(keys[1], (5, 6)) * 0.1)

    def cost(poses):
        first = jax.tree.map(lambda x: x[:-1], poses)
        second = jax.tree.map(lambda x: x[1:], poses)
        want = jax.tree.map(lambda x: x[:-1], true).inverse() @ jax.tree.map(lambda x: x[1:], true)
        error = (want.inverse() @ (first.inverse() @ second)).log()
        anchor = (
            jax.tree.map(lambda x: x[0], true).inverse() @ jax.tree.map(lambda x: x[0], poses)
        ).log()
        return jnp.sum(error**2) + jnp.sum(anchor**2)

    @jax.jit
    def step(poses):
        value, slope = jaxlie.manifold.value_and_grad(cost)(poses)
        return value, jaxlie.manifold.rplus(poses, jax.tree.map(lambda g: -0.1 * g, slope))

    poses, values = start, []
    for _ in range(30):
        value, poses = step(poses)
        values.append(value)
        yield value
    return {"first": values[0], "tenth": values[9], "pose": poses.wxyz_xyz[2]}
