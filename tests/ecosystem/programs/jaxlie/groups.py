"""Rotations and motions: products, logarithms, adjoints, geodesics, and their derivatives."""

import jax
import jax.numpy as jnp
import jaxlie


def run():
    keys = jax.random.split(jax.random.key(0), 3)
    result = {}
    for name, group in (
        ("so2", jaxlie.SO2),
        ("se2", jaxlie.SE2),
        ("so3", jaxlie.SO3),
        ("se3", jaxlie.SE3),
    ):
        tangents = jax.random.normal(keys[0], (2, group.tangent_dim)) * 0.7

        @jax.jit
        def both(t, group=group):
            a, b = group.exp(t[0]), group.exp(t[1])
            middle = a @ group.exp(0.3 * (a.inverse() @ b).log())
            return (a @ b).log(), a.adjoint(), middle.parameters(), a.as_matrix()

        slope = jax.jit(jax.jacfwd(lambda t, both=both: both(t)[0]))
        for _ in range(3):
            logarithm, adjoint, middle, _ = both(tangents)
            yield logarithm, slope(tangents)
        result[name] = jnp.concatenate([logarithm, middle, adjoint.sum(0)])
        result[name + "_slope"] = slope(tangents).sum((1, 2))
        result[name + "_small"] = jax.jacrev(lambda t, group=group: group.exp(t).log())(
            jnp.full(group.tangent_dim, 1e-7)
        )
    angles = jaxlie.SO3.from_rpy_radians(0.1, 0.2, 0.3)
    result["angles"] = jnp.stack(angles.as_rpy_radians())
    result["sampled"] = jaxlie.SO3.sample_uniform(keys[1]).wxyz
    return result
