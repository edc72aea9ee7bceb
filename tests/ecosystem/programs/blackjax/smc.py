"""Adaptive tempered sequential Monte Carlo with HMC kernels on two separate modes."""

import blackjax
import blackjax.smc.resampling as resampling
import jax
import jax.numpy as jnp
from jax.scipy.stats import norm


def likelihood(x):
    return jnp.logaddexp(norm.logpdf(x[0], -3, 0.5), norm.logpdf(x[0], 3, 0.5))


def run():
    parameters = {
        "step_size": jnp.array([0.3]),
        "inverse_mass_matrix": jnp.eye(1)[None],
        "num_integration_steps": jnp.array([5]),
    }
    sampler = blackjax.adaptive_tempered_smc(
        lambda x: norm.logpdf(x, 0, 4).sum(),
        likelihood,
        blackjax.hmc.build_kernel(),
        blackjax.hmc.init,
        parameters,
        resampling.systematic,
        0.95,
        num_mcmc_steps=4,
    )
    key = jax.random.PRNGKey(0)
    state = sampler.init(4 * jax.random.normal(key, (500, 1)))
    step = jax.jit(sampler.step)
    count = 0
    while state.tempering_param < 1 and count < 60:
        count += 1
        state, _ = step(jax.random.fold_in(key, count), state)
        yield state.particles
    left = (state.particles < 0).mean()
    return {"balanced": (left > 0.2) & (left < 0.8), "count": count}
