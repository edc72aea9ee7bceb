"""An image without noise, by total variation and the method of multipliers."""

import jax
import scico.numpy as snp
import scico.random
from scico import functional, linop, loss
from scico.optimize.admm import ADMM, LinearSubproblemSolver


def run():
    x = snp.zeros((24, 24)).at[6:18, 6:18].set(1.0)
    noise, _ = scico.random.randn(x.shape, seed=0)
    y = x + 0.2 * noise
    difference = linop.FiniteDifference(input_shape=x.shape, append=0)
    solver = ADMM(
        f=loss.SquaredL2Loss(y=y),
        g_list=[0.3 * functional.L21Norm()],
        C_list=[difference],
        rho_list=[1.0],
        x0=y,
        maxiter=1,
        subproblem_solver=LinearSubproblemSolver(cg_kwargs={"tol": 1e-4, "maxiter": 50}),
    )
    for _ in range(15):
        solver.step()
        yield solver.x
    error = snp.linalg.norm(solver.x - x) / snp.linalg.norm(y - x)
    slope = jax.grad(lambda z: functional.HuberNorm(0.1)(difference(z)))(y)
    return {"error": error, "row": solver.x[12], "slope": snp.sum(slope**2)}
