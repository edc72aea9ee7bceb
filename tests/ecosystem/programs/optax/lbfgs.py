"""Rosenbrock's function, minimised by L-BFGS with a line search in a loop."""

import jax
import jax.numpy as jnp
import optax


def rosenbrock(x):
    return jnp.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def minimise(start, solver, tolerance):
    value_and_grad = optax.value_and_grad_from_state(rosenbrock)

    def body(carry):
        x, state = carry
        value, gradient = value_and_grad(x, state=state)
        updates, state = solver.update(
            gradient, state, x, value=value, grad=gradient, value_fn=rosenbrock
        )
        return optax.apply_updates(x, updates), state

    def unfinished(carry):
        state = carry[1]
        count = optax.tree.get(state, "count")
        gradient = optax.tree.get(state, "grad")
        return (count == 0) | ((count < 200) & (optax.tree.norm(gradient) >= tolerance))

    return jax.lax.while_loop(unfinished, body, (start, solver.init(start)))


def run():
    solver = optax.lbfgs()
    fast = jax.jit(lambda start: minimise(start, solver, 1e-3)[0])
    for number in range(10):
        result = fast(jnp.full(8, 0.5 + 0.01 * number))
        yield result
    return {"value": rosenbrock(fast(jnp.zeros(8))) < 1e-4, "found": jnp.round(result, 2)}
