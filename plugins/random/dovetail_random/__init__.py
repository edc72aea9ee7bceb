"""Random keys and draws: the public names of ``jax.random``."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dovetail_random.draws.continuous import (
        cauchy as cauchy,
        exponential as exponential,
        gumbel as gumbel,
        laplace as laplace,
        logistic as logistic,
        maxwell as maxwell,
    )
    from dovetail_random.draws.counts import (
        binomial as binomial,
        multinomial as multinomial,
        poisson as poisson,
    )
    from dovetail_random.draws.discrete import bernoulli as bernoulli, randint as randint
    from dovetail_random.draws.families import (
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
    from dovetail_random.draws.gamma import (
        gamma as gamma,
        loggamma as loggamma,
        random_gamma_p as random_gamma_p,
    )
    from dovetail_random.draws.normal import (
        lognormal as lognormal,
        normal as normal,
        truncated_normal as truncated_normal,
    )
    from dovetail_random.draws.ratios import (
        beta as beta,
        chisquare as chisquare,
        dirichlet as dirichlet,
        f as f,
        t as t,
    )
    from dovetail_random.draws.selection import (
        categorical as categorical,
        choice as choice,
        permutation as permutation,
    )
    from dovetail_random.draws.uniform import bits as bits, uniform as uniform
    from dovetail_random.draws.vectors import (
        multivariate_normal as multivariate_normal,
        orthogonal as orthogonal,
    )
    from dovetail_random.generators import implementation as implementation
    from dovetail_random.implementations import (
        Implementation as Implementation,
        define_prng_impl as define_prng_impl,
        register_prng_impl as register_prng_impl,
    )
    from dovetail_random.keys import KeyArray as KeyArray
    from dovetail_random.making import (
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
    from dovetail_random.threefry import (
        threefry2x32_p as threefry2x32_p,
        threefry_2x32 as threefry_2x32,
    )
else:
    from dovetail_core import lazy_exports

    __getattr__, __dir__ = lazy_exports(__name__)
