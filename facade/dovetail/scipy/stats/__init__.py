"""Statistics: distributions, and summaries of data."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dovetail_scipy.stats import *

    from . import (
        bernoulli as bernoulli,
        beta as beta,
        betabinom as betabinom,
        binom as binom,
        cauchy as cauchy,
        chi2 as chi2,
        dirichlet as dirichlet,
        expon as expon,
        gamma as gamma,
        gennorm as gennorm,
        geom as geom,
        gumbel_l as gumbel_l,
        gumbel_r as gumbel_r,
        laplace as laplace,
        logistic as logistic,
        multinomial as multinomial,
        multivariate_normal as multivariate_normal,
        nbinom as nbinom,
        norm as norm,
        pareto as pareto,
        poisson as poisson,
        t as t,
        truncnorm as truncnorm,
        uniform as uniform,
        vonmises as vonmises,
        wrapcauchy as wrapcauchy,
    )
else:
    from dovetail_surface import surface as _surface

    __getattr__, __dir__ = _surface(__name__)
