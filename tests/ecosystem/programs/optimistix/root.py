"""The root of a system by Newton's method, its gradient, and an implicit Euler step."""

import jax
import jax.numpy as jnp
import optimistix as optx


def system(y, a):
    first, second = y
    return first - a * jnp.cos(second), second - jnp.sin(first)


def run():
    solver = optx.Newton(rtol=1e-6, atol=1e-6)

    @jax.jit
    def root(a):
        start = (jnp.array(0.5), jnp.array(0.5))
        return optx.root_find(system, solver, start, args=a).value

    slope = jax.jit(jax.grad(lambda a: root(a)[0]))
    for number in range(20):
        a = jnp.array(0.5 + 0.02 * number)
        result = root(a)
        yield result, slope(a)
    fixed = optx.fixed_point(
        lambda y, _: jnp.tanh(y) + 0.5, optx.FixedPointIteration(1e-6, 1e-6), jnp.array(0.1)
    )
    between = optx.root_find(
        lambda y, _: y**3 - 2, optx.Bisection(1e-6, 1e-6), jnp.array(1.0),
        options={"lower": 0.0, "upper": 2.0},
    )  # fmt: skip
    return {
        "found": jnp.stack(result),
        "slope": slope(a),
        "fixed": fixed.value,
        "between": between.value,
    }
