"""The ground state of a chain of spins, by variational Monte Carlo with a Boltzmann machine."""

import jax
import netket as nk


def run():
    graph = nk.graph.Chain(length=6, pbc=True)
    space = nk.hilbert.Spin(s=1 / 2, N=graph.n_nodes)
    hamiltonian = nk.operator.IsingJax(hilbert=space, graph=graph, h=1.0)
    machine = nk.models.RBM(alpha=1, param_dtype=float)
    state = nk.vqs.MCState(
        nk.sampler.MetropolisLocal(space, n_chains=8), machine, n_samples=128, seed=0
    )
    driver = nk.driver.VMC(
        hamiltonian,
        nk.optimizer.Sgd(0.05),
        variational_state=state,
        preconditioner=nk.optimizer.SR(diag_shift=0.05),
    )
    energies = []
    for _ in range(8):
        driver.run(1, show_progress=False)
        energies.append(float(driver.energy.mean.real))
        yield jax.tree.leaves(state.parameters)
    exact = nk.exact.lanczos_ed(hamiltonian)[0]
    return {
        "first": energies[0],
        "improved": int(energies[-1] < energies[0]),
        "exact": float(exact),
    }
