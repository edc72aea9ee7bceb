"""Arrays with units through functions that know nothing of these."""

import jax
import jax.numpy as jnp
import quax
from quax.examples import unitful


def run():
    length = unitful.Unitful(jnp.arange(1.0, 5.0), {unitful.meters: 1})
    time = unitful.Unitful(jnp.float32(2.0), {unitful.seconds: 1})
    product = jax.jit(quax.quaxify(lambda x, t: (x + x) * x * t))
    for _ in range(30):
        result = product(length, time)
        yield result
    return {"found": result.array, "units": len(result.units)}
