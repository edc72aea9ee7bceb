"""Special functions."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dovetail_nn import logsumexp as logsumexp
    from dovetail_scipy.special.bessel_functions import (
        bessel_jn as bessel_jn,
        i0 as i0,
        i0e as i0e,
        i1 as i1,
        i1e as i1e,
    )
    from dovetail_scipy.special.combinatorics import (
        comb as comb,
        factorial as factorial,
        poch as poch,
    )
    from dovetail_scipy.special.entropies import (
        entr as entr,
        kl_div as kl_div,
        rel_entr as rel_entr,
        xlog1py as xlog1py,
        xlogy as xlogy,
    )
    from dovetail_scipy.special.error_family.error_functions import (
        erf as erf,
        erfc as erfc,
        erfinv as erfinv,
    )
    from dovetail_scipy.special.error_family.faddeeva import erfcx as erfcx, wofz as wofz
    from dovetail_scipy.special.error_family.normal import (
        log_ndtr as log_ndtr,
        ndtr as ndtr,
        ndtri as ndtri,
        owens_t as owens_t,
    )
    from dovetail_scipy.special.exponential_integrals import (
        exp1 as exp1,
        expi as expi,
        expn as expn,
    )
    from dovetail_scipy.special.gamma_family.beta_functions import beta as beta, betaln as betaln
    from dovetail_scipy.special.gamma_family.complex_gamma import (
        gamma as gamma,
        loggamma as loggamma,
    )
    from dovetail_scipy.special.gamma_family.gamma_functions import (
        gammaln as gammaln,
        gammasgn as gammasgn,
        multigammaln as multigammaln,
    )
    from dovetail_scipy.special.gamma_family.incomplete_beta import betainc as betainc
    from dovetail_scipy.special.gamma_family.incomplete_gamma import (
        gammainc as gammainc,
        gammaincc as gammaincc,
    )
    from dovetail_scipy.special.hypergeometric import hyp1f1 as hyp1f1, hyp2f1 as hyp2f1
    from dovetail_scipy.special.integrals import (
        dawsn as dawsn,
        fresnel as fresnel,
        sici as sici,
        spence as spence,
    )
    from dovetail_scipy.special.legendre import (
        lpmn as lpmn,
        lpmn_values as lpmn_values,
        sph_harm_y as sph_harm_y,
    )
    from dovetail_scipy.special.transformations import (
        boxcox as boxcox,
        boxcox1p as boxcox1p,
        expit as expit,
        log_softmax as log_softmax,
        logit as logit,
        softmax as softmax,
    )
    from dovetail_scipy.special.zeta_functions import (
        bernoulli as bernoulli,
        digamma as digamma,
        polygamma as polygamma,
        zeta as zeta,
    )
else:
    from dovetail_core import lazy_exports

    __getattr__, __dir__ = lazy_exports(__name__)

__programs__ = ["bessel_jn", "gammasgn"]
