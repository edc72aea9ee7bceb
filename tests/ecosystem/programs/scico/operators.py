"""Linear operators, their adjoints, arrays in blocks and proximal maps."""

import jax
import scico.numpy as snp
from scico import functional, linop, loss, metric
from scico.optimize import PGM, AcceleratedPGM


def run():
    signal = snp.sin(snp.arange(64.0) / 5).reshape(8, 8)
    kernel = snp.ones((3, 3)) / 9
    blur = linop.Convolve(h=kernel, input_shape=signal.shape, mode="same")
    both = linop.VerticalStack((blur, linop.Identity(signal.shape)), collapse_output=False)
    blocks = both(signal)
    inner = snp.sum(blocks * blocks)
    adjoint = both.adj(blocks)
    solver = AcceleratedPGM(
        f=loss.SquaredL2Loss(y=blur(signal), A=blur),
        g=1e-3 * functional.L1Norm(),
        L0=2.0,
        x0=snp.zeros(signal.shape),
        maxiter=1,
    )
    for _ in range(20):
        solver.step()
        yield solver.x
    plain = PGM(
        f=loss.SquaredL2Loss(y=blur(signal), A=blur), g=functional.NonNegativeIndicator(), L0=2.0,
        x0=snp.zeros(signal.shape), maxiter=5,
    )  # fmt: skip
    plain.solve()
    largest = linop.operator_norm(blur, maxiter=50)
    shape = jax.tree.map(lambda x: x.shape, list(blocks))
    return {
        "inner": inner,
        "consistent": snp.sum(signal * adjoint) - inner,
        "solution": solver.x[4],
        "plain": plain.x[2],
        "norm": largest,
        "snr": metric.snr(signal, solver.x),
        "shapes": len(shape) + blur.input_shape[0],
    }
