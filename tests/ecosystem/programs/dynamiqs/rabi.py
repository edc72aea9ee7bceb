"""A qubit driven on resonance: the Schrödinger equation, and a gradient of its solution."""

import dynamiqs as dq
import jax
import jax.numpy as jnp

dq.set_progress_meter(False)


def run():
    times = jnp.linspace(0.0, 1.0, 21)

    @jax.jit
    def excited(amplitude):
        result = dq.sesolve(amplitude * dq.sigmax(), dq.basis(2, 0), times, exp_ops=[dq.sigmaz()])
        return result.expects[0].real

    slope = jax.jit(jax.grad(lambda a: excited(a)[-1]))
    for number in range(10):
        amplitude = 1.0 + 0.05 * number
        yield excited(amplitude), slope(amplitude)
    return {"excited": excited(1.0), "slope": slope(1.0)}
