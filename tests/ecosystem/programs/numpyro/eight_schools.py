"""The eight schools, not centred, sampled by NUTS."""

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro.infer import MCMC, NUTS
from numpyro.infer.reparam import LocScaleReparam

EFFECTS = np.array([28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0])
ERRORS = np.array([15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0])


@numpyro.handlers.reparam(config={"theta": LocScaleReparam(0)})
def model(errors, effects=None):
    mu = numpyro.sample("mu", dist.Normal(0, 5))
    tau = numpyro.sample("tau", dist.HalfCauchy(5))
    with numpyro.plate("schools", len(errors)):
        theta = numpyro.sample("theta", dist.Normal(mu, tau))
        numpyro.sample("observed", dist.Normal(theta, errors), obs=effects)


def run():
    mcmc = MCMC(NUTS(model), num_warmup=500, num_samples=500, progress_bar=False)
    for seed in range(3):
        mcmc.run(jax.random.PRNGKey(seed), ERRORS, effects=EFFECTS)
        samples = mcmc.get_samples()
        yield samples
    result = {name: jnp.round(value.mean() / 20) for name, value in samples.items()}
    return {**result, "shape": str(samples["theta"].shape)}
