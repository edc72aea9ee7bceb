"""Matter power spectra and their derivative with respect to cosmological parameters."""

import jax
import jax.numpy as jnp
import jax_cosmo as jc


def run():
    k = jnp.logspace(-3, 0.5, 32)

    @jax.jit
    def spectrum(sigma):
        cosmology = jc.Planck15(sigma8=sigma)
        return jc.power.nonlinear_matter_power(cosmology, k)

    slope = jax.jit(jax.jacfwd(spectrum))
    for number in range(5):
        sigma = 0.8 + 0.01 * number
        yield spectrum(sigma), slope(sigma)
    cosmology = jc.Planck15()
    distance = jc.background.radial_comoving_distance(cosmology, jnp.array([0.5, 0.8]))
    return {
        "spectrum": jnp.log(spectrum(0.8)),
        "slope": slope(0.8)[::8],
        "distance": distance,
        "growth": jc.background.growth_factor(cosmology, jnp.array([0.5, 1.0])),
    }
