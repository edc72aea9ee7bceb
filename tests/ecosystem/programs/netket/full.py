"""Sums over all states in place of samples: energies, gradients, and dynamics by operators."""

import jax
import jax.numpy as jnp
import netket as nk


def run():
    graph = nk.graph.Square(2)
    space = nk.hilbert.Spin(s=1 / 2, N=graph.n_nodes)
    hamiltonian = nk.operator.Heisenberg(space, graph).to_jax_operator()
    state = nk.vqs.FullSumState(space, nk.models.Jastrow(param_dtype=complex), seed=1)
    for _ in range(5):
        energy, slope = state.expect_and_grad(hamiltonian)
        state.parameters = jax.tree.map(lambda p, g: p - 0.05 * g, state.parameters, slope)
        yield energy.mean
    dense = jnp.asarray(hamiltonian.to_dense())
    total = sum(nk.operator.spin.sigmaz(space, i) for i in range(space.size))
    return {
        "energy": energy.mean.real,
        "variance": energy.variance,
        "lowest": jnp.linalg.eigvalsh(dense)[0],
        "states": space.n_states,
        "magnetization": state.expect(total.to_jax_operator()).mean.real,
    }
