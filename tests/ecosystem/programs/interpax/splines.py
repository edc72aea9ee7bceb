"""Splines through points in one dimension, with derivatives in places and in values."""

import interpax
import jax
import jax.numpy as jnp


def run():
    x = jnp.linspace(0, 3, 12)
    f = jnp.sin(x) + 0.1 * x**2
    places = jnp.array([0.05, 0.77, 1.5, 2.91])
    result = {}
    for method in ("linear", "cubic", "cubic2", "catmull-rom", "monotonic", "akima"):

        @jax.jit
        def at(places, f, method=method):
            return interpax.interp1d(places, x, f, method=method)

        slope = jax.jit(jax.grad(lambda p, f, at=at: at(p, f).sum(), (0, 1)))
        for _ in range(3):
            values = at(places, f)
            in_places, in_values = slope(places, f)
            yield values, in_places
        result[method] = values
        result[method + "_places"] = in_places
        result[method + "_values"] = in_values
    spline = interpax.Interpolator1D(x, f, method="cubic2", extrap=True)
    result["derivative"] = jax.jit(lambda p: spline(p, dx=1))(places)
    result["outside"] = spline(jnp.array([-0.1, 3.2]))
    result["fourier"] = interpax.fft_interp1d(jnp.sin(2 * jnp.pi * jnp.arange(8) / 8), 12)
    return result
