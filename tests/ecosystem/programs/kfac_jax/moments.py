"""Moments of the patches that convolutions see, and inverses of damped Kronecker factors."""

import jax
import jax.numpy as jnp
import kfac_jax


def run():
    images = jax.random.normal(jax.random.key(0), (4, 9, 8, 3))
    result = {}
    for padding in ("VALID", "SAME"):
        moments = jax.jit(lambda x, p=padding: kfac_jax.patches_moments(x, 3, padding=p))
        plain = jax.jit(lambda x, p=padding: kfac_jax.patches_moments_explicit(x, 3, padding=p))
        for _ in range(3):
            second, first = moments(images)
            yield first
        again, _ = plain(images)
        result[padding] = first
        result[padding + "_second"] = jnp.sum(second**2)
        result[padding + "_error"] = jnp.abs(second - again).max()
    a = jnp.cov(jax.random.normal(jax.random.key(1), (4, 40)))
    b = jnp.cov(jax.random.normal(jax.random.key(2), (3, 30)))
    inverse = jax.jit(lambda d: kfac_jax.utils.pi_adjusted_kronecker_inverse(a, b, damping=d))
    one, other = inverse(0.1)
    average = kfac_jax.utils.WeightedMovingAverage.zeros_array((4, 4))
    for decay in (0.0, 0.9, 0.9):
        average.update(a, decay, 1.0)
        yield average.value
    values, vectors = kfac_jax.utils.safe_psd_eigh(a)
    return {
        **result,
        "one": one,
        "other": other,
        "average": average.value,
        "values": values,
        "psd": kfac_jax.utils.psd_inv(a + jnp.eye(4)),
        "norm": kfac_jax.utils.psd_matrix_norm(a, "trace"),
        "again": jnp.abs(vectors * values @ vectors.T - a).max(),
    }
