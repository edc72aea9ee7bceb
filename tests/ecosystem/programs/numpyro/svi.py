"""A logistic regression by stochastic variational inference with an automatic guide."""

import jax
import jax.numpy as jnp
import numpyro
import numpyro.distributions as dist
from numpyro.infer import SVI, Predictive, Trace_ELBO
from numpyro.infer.autoguide import AutoNormal


def model(x, y=None):
    weights = numpyro.sample("weights", dist.Normal(0, 1).expand([3]).to_event(1))
    bias = numpyro.sample("bias", dist.Normal(0, 1))
    with numpyro.plate("data", len(x)):
        numpyro.sample("y", dist.Bernoulli(logits=x @ weights + bias), obs=y)


def run():
    x = jax.random.normal(jax.random.PRNGKey(0), (200, 3))
    y = (x @ jnp.array([1.0, -2.0, 0.5]) > 0).astype(int)
    guide = AutoNormal(model)
    svi = SVI(model, guide, numpyro.optim.Adam(0.02), Trace_ELBO())
    state = svi.init(jax.random.PRNGKey(1), x, y)
    update = jax.jit(lambda state: svi.update(state, x, y))
    for _ in range(300):
        state, loss = update(state)
        yield loss
    params = svi.get_params(state)
    predictive = Predictive(model, guide=guide, params=params, num_samples=10)
    drawn = predictive(jax.random.PRNGKey(2), x)["y"]
    return {"weights": params["weights_auto_loc"], "loss": loss, "drawn": drawn.mean()}
