"""Random keys and what is drawn with them: the public names of ``jax.random``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dovetail_core.base.lazy import lazy_exports as _lazy_exports

if TYPE_CHECKING:
    from .draws.binomial import (
        binomial as binomial,
        multinomial as multinomial,
    )
    from .draws.coins import (
        bernoulli as bernoulli,
    )
    from .draws.continuous import (
        cauchy as cauchy,
        exponential as exponential,
        gumbel as gumbel,
        laplace as laplace,
        logistic as logistic,
        maxwell as maxwell,
    )
    from .draws.families import (
        geometric as geometric,
        pareto as pareto,
        rayleigh as rayleigh,
        triangular as triangular,
        wald as wald,
        weibull_min as weibull_min,
    )
    from .draws.gamma import (
        gamma as gamma,
        loggamma as loggamma,
        random_gamma_p as random_gamma_p,
    )
    from .draws.integers import (
        randint as randint,
    )
    from .draws.normal import (
        lognormal as lognormal,
        normal as normal,
        truncated_normal as truncated_normal,
    )
    from .draws.permutations import (
        permutation as permutation,
    )
    from .draws.poisson import (
        poisson as poisson,
    )
    from .draws.ratios import (
        beta as beta,
        chisquare as chisquare,
        dirichlet as dirichlet,
        f as f,
        t as t,
    )
    from .draws.selection import (
        categorical as categorical,
        choice as choice,
    )
    from .draws.signed import (
        ball as ball,
        double_sided_maxwell as double_sided_maxwell,
        generalized_normal as generalized_normal,
        rademacher as rademacher,
    )
    from .draws.uniform import (
        bits as bits,
        uniform as uniform,
    )
    from .draws.vectors import (
        multivariate_normal as multivariate_normal,
        orthogonal as orthogonal,
    )
    from .generators import (
        implementation as implementation,
    )
    from .implementations import (
        Implementation as Implementation,
        define_prng_impl as define_prng_impl,
        register as register_prng_impl,
    )
    from .keys import (
        KeyArray as KeyArray,
    )
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
    from .threefry import (
        threefry2x32_p as threefry2x32_p,
        threefry_2x32 as threefry_2x32,
    )

# Written by tools/make_lazy.py from the imports above.
_WHERE = {
    "Implementation": "implementations",
    "KeyArray": "keys",
    "PRNGKey": "making",
    "ball": "draws.signed",
    "bernoulli": "draws.coins",
    "beta": "draws.ratios",
    "binomial": "draws.binomial",
    "bits": "draws.uniform",
    "categorical": "draws.selection",
    "cauchy": "draws.continuous",
    "chisquare": "draws.ratios",
    "choice": "draws.selection",
    "clone": "making",
    "define_prng_impl": "implementations",
    "dirichlet": "draws.ratios",
    "double_sided_maxwell": "draws.signed",
    "exponential": "draws.continuous",
    "f": "draws.ratios",
    "fold_in": "making",
    "gamma": "draws.gamma",
    "generalized_normal": "draws.signed",
    "geometric": "draws.families",
    "gumbel": "draws.continuous",
    "implementation": "generators",
    "key": "making",
    "key_data": "making",
    "key_dtype": "making",
    "key_impl": "making",
    "laplace": "draws.continuous",
    "loggamma": "draws.gamma",
    "logistic": "draws.continuous",
    "lognormal": "draws.normal",
    "maxwell": "draws.continuous",
    "multinomial": "draws.binomial",
    "multivariate_normal": "draws.vectors",
    "normal": "draws.normal",
    "orthogonal": "draws.vectors",
    "pareto": "draws.families",
    "permutation": "draws.permutations",
    "poisson": "draws.poisson",
    "rademacher": "draws.signed",
    "randint": "draws.integers",
    "random_gamma_p": "draws.gamma",
    "rayleigh": "draws.families",
    "register_prng_impl": "implementations:register",
    "split": "making",
    "t": "draws.ratios",
    "threefry2x32_p": "threefry",
    "threefry_2x32": "threefry",
    "triangular": "draws.families",
    "truncated_normal": "draws.normal",
    "uniform": "draws.uniform",
    "wald": "draws.families",
    "weibull_min": "draws.families",
    "wrap_key_data": "making",
}
__all__ = [
    "Implementation",
    "KeyArray",
    "PRNGKey",
    "ball",
    "bernoulli",
    "beta",
    "binomial",
    "bits",
    "categorical",
    "cauchy",
    "chisquare",
    "choice",
    "clone",
    "define_prng_impl",
    "dirichlet",
    "double_sided_maxwell",
    "exponential",
    "f",
    "fold_in",
    "gamma",
    "generalized_normal",
    "geometric",
    "gumbel",
    "implementation",
    "key",
    "key_data",
    "key_dtype",
    "key_impl",
    "laplace",
    "loggamma",
    "logistic",
    "lognormal",
    "maxwell",
    "multinomial",
    "multivariate_normal",
    "normal",
    "orthogonal",
    "pareto",
    "permutation",
    "poisson",
    "rademacher",
    "randint",
    "random_gamma_p",
    "rayleigh",
    "register_prng_impl",
    "split",
    "t",
    "threefry2x32_p",
    "threefry_2x32",
    "triangular",
    "truncated_normal",
    "uniform",
    "wald",
    "weibull_min",
    "wrap_key_data",
]

__getattr__ = _lazy_exports(__name__, _WHERE)


def __dir__() -> list[str]:
    return sorted({*globals(), *_WHERE})
