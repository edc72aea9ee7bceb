"""Random keys and what is drawn with them: the public names of ``jax.random``."""

from __future__ import annotations

from dovetail_core import hide_frames as _hide_frames

from .continuous import (
    cauchy as cauchy,
    exponential as exponential,
    gumbel as gumbel,
    laplace as laplace,
    logistic as logistic,
    lognormal as lognormal,
    maxwell as maxwell,
    normal as normal,
    truncated_normal as truncated_normal,
)
from .counting import binomial as binomial, multinomial as multinomial, poisson as poisson
from .families import (
    ball as ball,
    double_sided_maxwell as double_sided_maxwell,
    generalized_normal as generalized_normal,
    geometric as geometric,
    pareto as pareto,
    rademacher as rademacher,
    rayleigh as rayleigh,
    triangular as triangular,
    wald as wald,
    weibull_min as weibull_min,
)
from .gamma import (
    beta as beta,
    chisquare as chisquare,
    dirichlet as dirichlet,
    f as f,
    gamma as gamma,
    loggamma as loggamma,
    random_gamma_p as random_gamma_p,
    t as t,
)
from .implementations import (
    Implementation as Implementation,
    define_prng_impl as define_prng_impl,
    implementation as implementation,
    register as register_prng_impl,
)
from .keys import KeyArray as KeyArray
from .making import (
    PRNGKey as PRNGKey,
    clone as clone,
    fold_in as fold_in,
    key as key,
    key_data as key_data,
    key_dtype as key_dtype,
    key_impl as key_impl,
    split as split,
    wrap_key_data as wrap_key_data,
)
from .selection import categorical as categorical, choice as choice, permutation as permutation
from .threefry import threefry2x32_p as threefry2x32_p, threefry_2x32 as threefry_2x32
from .uniform import (
    bernoulli as bernoulli,
    bits as bits,
    randint as randint,
    uniform as uniform,
)
from .vectors import multivariate_normal as multivariate_normal, orthogonal as orthogonal

_hide_frames(__file__.rpartition("/")[0])

__all__ = [
    "Implementation", "KeyArray", "PRNGKey", "ball", "bernoulli", "beta", "binomial", "bits",
    "categorical", "cauchy", "chisquare", "choice", "clone", "define_prng_impl", "dirichlet",
    "double_sided_maxwell", "exponential", "f", "fold_in", "gamma", "generalized_normal",
    "geometric", "gumbel", "implementation", "key", "key_data", "key_dtype", "key_impl",
    "laplace", "loggamma", "logistic", "lognormal", "maxwell", "multinomial",
    "multivariate_normal", "normal", "orthogonal", "pareto", "permutation", "poisson",
    "rademacher", "randint", "random_gamma_p", "rayleigh", "register_prng_impl", "split", "t",
    "threefry2x32_p", "threefry_2x32", "triangular", "truncated_normal", "uniform", "wald",
    "weibull_min", "wrap_key_data",
]  # fmt: skip
