"""An oscillator that loses photons: the Lindblad equation over a batch of rates."""

import dynamiqs as dq
import jax.numpy as jnp

dq.set_progress_meter(False)


def run():
    size = 12
    a = dq.destroy(size)
    hamiltonian = 2.0 * a.dag() @ a
    times = jnp.linspace(0.0, 1.0, 11)
    for number in range(5):
        rates = jnp.array([0.1, 0.5, 1.0]) + 0.1 * number
        jumps = [jnp.sqrt(rates)[:, None, None] * a]
        state = dq.coherent(size, 1.5)
        result = dq.mesolve(hamiltonian, jumps, state, times, exp_ops=[a.dag() @ a])
        yield result.expects
    return {"photons": result.expects[:, 0, -1].real, "trace": result.states[0, -1].trace().real}
