"""Interpolation in two and three dimensions, and SciPy's classes."""

import interpax
import jax
import jax.numpy as jnp


def run():
    x, y, z = jnp.linspace(0, 2, 9), jnp.linspace(-1, 1, 8), jnp.linspace(0, 1, 5)
    plane = jnp.sin(x)[:, None] * jnp.cos(y)
    room = plane[..., None] + z**2
    p = jnp.array([0.3, 1.1, 1.9])
    q = jnp.array([-0.7, 0.2, 0.55])
    r = jnp.array([0.1, 0.5, 0.8])
    result = {}
    for method in ("nearest", "linear", "cubic2"):
        two = jax.jit(lambda p, q, m=method: interpax.interp2d(p, q, x, y, plane, method=m))
        three = jax.jit(lambda p, q, r, m=method: interpax.interp3d(p, q, r, x, y, z, room, m))
        for _ in range(3):
            values = two(p, q), three(p, q, r)
            yield values
        result[method + "2"], result[method + "3"] = values
    result["slope"] = jax.grad(lambda p: two(p, q).sum())(p)
    points = jnp.stack([p, q], 1)
    radial = interpax.RBFInterpolator(points, jnp.sin(p) * q, kernel="linear")
    result["radial"] = radial(points + 0.1)
    spline = interpax.CubicSpline(x, plane[:, 3])
    result["spline"] = jax.vmap(jax.grad(spline))(p)
    result["integral"] = spline.integrate(0.2, 1.7)
    result["akima"] = interpax.Akima1DInterpolator(x, plane[:, 1])(p)
    return result
