"""A bijected distribution fitted by maximum likelihood, and a joint distribution."""

import jax
import jax.numpy as jnp
import optax
import tensorflow_probability.substrates.jax as tfp

tfd, tfb = tfp.distributions, tfp.bijectors


def run():
    data = tfd.Gamma(2.0, 3.0).sample(500, seed=jax.random.PRNGKey(0))
    solver = optax.adam(0.05)
    params = {"a": jnp.array(0.0), "b": jnp.array(0.0)}
    state = solver.init(params)

    @jax.jit
    def step(params, state):
        def loss(params):
            positive = jax.tree.map(tfb.Softplus().forward, params)
            return -tfd.Gamma(positive["a"], positive["b"]).log_prob(data).mean()

        value, gradient = jax.value_and_grad(loss)(params)
        updates, state = solver.update(gradient, state)
        return optax.apply_updates(params, updates), state, value

    for _ in range(100):
        params, state, value = step(params, state)
        yield value
    joint = tfd.JointDistributionNamed(
        {
            "scale": tfd.LogNormal(0.0, 1.0),
            "x": lambda scale: tfd.Sample(tfd.Normal(0.0, scale), 3),
        }
    )
    drawn = joint.sample(seed=jax.random.PRNGKey(1))
    spline = tfb.Chain([tfb.Exp(), tfb.Shift(1.0), tfb.Scale(2.0)])
    return {
        **params,
        "joint": joint.log_prob(drawn),
        "determinant": spline.forward_log_det_jacobian(0.3),
    }
