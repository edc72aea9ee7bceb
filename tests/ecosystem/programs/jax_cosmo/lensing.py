"""Angular spectra of weak lensing and their Fisher matrix."""

import jax
import jax.numpy as jnp
import jax_cosmo as jc


def run():
    bins = [jc.redshift.smail_nz(1.0, 2.0, z, gals_per_arcmin2=10.0) for z in (0.8, 1.2)]
    probes = [jc.probes.WeakLensing(bins, sigma_e=0.26)]
    ell = jnp.logspace(1, 3, 10)

    @jax.jit
    def spectra(parameters):
        cosmology = jc.Planck15(Omega_c=parameters[0], sigma8=parameters[1])
        return jc.angular_cl.angular_cl(cosmology, ell, probes).flatten()

    jacobian = jax.jit(jax.jacfwd(spectra))
    parameters = jnp.array([0.25, 0.8])
    for _ in range(3):
        result = spectra(parameters)
        slope = jacobian(parameters)
        yield result, slope
    relative = slope / result[:, None]
    return {"spectra": jnp.log(result), "fisher": relative.T @ relative}
