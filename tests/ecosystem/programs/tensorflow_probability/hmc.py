"""Hamiltonian Monte Carlo with adapted step size."""

import jax
import jax.numpy as jnp
import tensorflow_probability.substrates.jax as tfp


def run():
    target = tfp.distributions.MultivariateNormalTriL(
        jnp.array([1.0, -1.0]), jnp.array([[1.0, 0.0], [0.5, 0.8]])
    )
    kernel = tfp.mcmc.SimpleStepSizeAdaptation(
        tfp.mcmc.HamiltonianMonteCarlo(target.log_prob, step_size=0.2, num_leapfrog_steps=5),
        num_adaptation_steps=200,
    )

    @jax.jit
    def sampled(key):
        return tfp.mcmc.sample_chain(
            num_results=500,
            num_burnin_steps=200,
            current_state=jnp.zeros(2),
            kernel=kernel,
            trace_fn=None,
            seed=key,
        )

    for seed in range(5):
        samples = sampled(jax.random.PRNGKey(seed))
        yield samples
    return {"mean": jnp.round(samples.mean(0)), "shape": str(samples.shape)}
