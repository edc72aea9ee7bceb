"""Spherical harmonics and tensor products turn as the rotation of their arguments says."""

import e3nn_jax as e3nn
import jax
import jax.numpy as jnp


def run():
    x = jax.random.normal(jax.random.PRNGKey(0), (10, 3))
    rotation = e3nn.rand_matrix(jax.random.PRNGKey(1))

    @jax.jit
    def features(x):
        vectors = e3nn.IrrepsArray("1o", x)
        harmonics = e3nn.spherical_harmonics("0e + 1o + 2e", vectors, True)
        return e3nn.tensor_product(harmonics, vectors, filter_ir_out=["0e", "1o", "2o"])

    slope = jax.jit(jax.grad(lambda x: features(x).filter("0e").array.sum() + (x**2).sum()))
    for _ in range(20):
        result = features(x)
        yield result.array, slope(x)
    turned = features(x @ rotation.T).array - result.transform_by_matrix(rotation).array
    same = jnp.abs(turned).max() < 1e-4
    return {"same": same, "irreps": str(result.irreps), "norm": e3nn.norm(result).array[0]}
