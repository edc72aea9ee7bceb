"""A linear Gaussian model: filter, smoother in sequence and in parallel, and learning by EM."""

import jax
import jax.numpy as jnp
from dynamax.linear_gaussian_ssm import LinearGaussianSSM, lgssm_smoother
from dynamax.linear_gaussian_ssm.parallel_inference import lgssm_smoother as parallel_smoother


def run():
    model = LinearGaussianSSM(state_dim=2, emission_dim=3)
    parameters, properties = model.initialize(
        jax.random.key(0), dynamics_weights=jnp.array([[0.9, 0.2], [-0.2, 0.9]])
    )
    states, emissions = model.sample(parameters, jax.random.key(1), num_timesteps=60)
    smooth = jax.jit(lambda e: lgssm_smoother(parameters, e).smoothed_means)
    slope = jax.jit(jax.grad(lambda e: model.marginal_log_prob(parameters, e)))
    for _ in range(5):
        means = smooth(emissions)
        yield means, slope(emissions)
    parallel = jax.jit(lambda e: parallel_smoother(parameters, e))(emissions)
    learnt, values = model.fit_em(
        parameters, properties, emissions[None], num_iters=3, verbose=False
    )
    return {
        "states": states[-1],
        "means": means[-1],
        "parallel": jnp.abs(parallel.smoothed_means - means).max(),
        "values": values,
        "dynamics": learnt.dynamics.weights,
        "slope": slope(emissions)[0],
    }
