"""Bijections with their Jacobians, and distributions that they make of others."""

import equinox as eqx
import jax
import jax.numpy as jnp
import paramax
from flowjax.bijections import Affine, Chain, Planar, RationalQuadraticSpline, Tanh, Vmap
from flowjax.distributions import Gamma, LogNormal, StudentT, Transformed


def run():
    x = jnp.array([0.3, -0.8, 1.2])
    spline = eqx.filter_vmap(lambda: RationalQuadraticSpline(knots=6, interval=3), axis_size=3)()
    chain = Chain(
        [
            Affine(jnp.ones(3), jnp.array([0.5, 2.0, 1.0])),
            Vmap(spline, in_axes=eqx.if_array(0)),
            Tanh((3,)),
        ]
    )
    both = eqx.filter_jit(lambda b, x: b.transform_and_log_det(x))
    back = eqx.filter_jit(lambda b, y: b.inverse_and_log_det(y))
    for _ in range(5):
        y, log_det = both(chain, x)
        again, inverse = back(chain, y)
        yield y, again
    exact = jnp.linalg.slogdet(jax.jacobian(lambda x: both(chain, x)[0])(x))[1]
    planar = paramax.unwrap(Planar(jax.random.key(0), dim=3))
    heavy = Transformed(StudentT(jnp.full(3, 4.0)), Affine(jnp.zeros(3), jnp.full(3, 2.0)))
    return {
        "y": y,
        "log_det": log_det,
        "exact": exact,
        "again": again,
        "inverse": inverse,
        "planar": planar.transform_and_log_det(x)[0],
        "heavy": heavy.log_prob(x),
        "gamma": Gamma(jnp.array([0.5, 3.0]), jnp.ones(2)).sample(jax.random.key(1), (3,)),
        "lognormal": LogNormal(jnp.zeros(2)).log_prob(jnp.array([0.5, 2.0])),
    }
