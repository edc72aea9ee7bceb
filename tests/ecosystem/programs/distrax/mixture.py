"""Samples, densities and divergences of distributions, under jit and vmap."""

import distrax
import jax
import jax.numpy as jnp


def run():
    weights = distrax.Categorical(logits=jnp.array([0.1, 0.7, 0.2]))
    parts = distrax.Normal(jnp.array([-2.0, 0.0, 3.0]), jnp.array([0.5, 1.0, 2.0]))
    mixture = distrax.MixtureSameFamily(weights, parts)

    @jax.jit
    def drawn(key):
        samples, densities = mixture.sample_and_log_prob(seed=key, sample_shape=(1000,))
        return samples.mean(), densities.mean()

    for number in range(20):
        mean, density = drawn(jax.random.PRNGKey(number))
        yield mean
    chain = distrax.HMM(
        init_dist=distrax.Categorical(probs=jnp.array([0.5, 0.5])),
        trans_dist=distrax.Categorical(probs=jnp.array([[0.9, 0.1], [0.2, 0.8]])),
        obs_dist=distrax.Normal(jnp.array([0.0, 3.0]), jnp.ones(2)),
    )
    observed = jnp.array([0.1, -0.2, 2.9, 3.3, 3.1, 0.2])
    _, _, smoothed, evidence = chain.forward_backward(observed)
    divergence = distrax.Normal(0.0, 1.0).kl_divergence(distrax.Normal(1.0, 2.0))
    result = {"mean": mean, "density": density, "divergence": divergence}
    return {**result, "smoothed": smoothed, "evidence": evidence, "path": chain.viterbi(observed)}
