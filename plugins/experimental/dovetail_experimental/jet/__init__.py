"""Taylor mode: the public names of ``jax.experimental.jet``, and the rule table behind them."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dovetail_experimental.jet.functions import fact as fact, jet as jet, jet2 as jet2
    from dovetail_experimental.jet.registration import (
        def_comp as def_comp,
        def_deriv as def_deriv,
        deflinear as deflinear,
        defzero as defzero,
        deriv_prop as deriv_prop,
        jet_rules as jet_rules,
        linear_prop as linear_prop,
        zero_prop as zero_prop,
    )
    from dovetail_experimental.jet.series import (
        SeriesCarrier as SeriesCarrier,
        ZeroSeries as ZeroSeries,
        ZeroTerm as ZeroTerm,
        series_rules as series_rules,
        zero_series as zero_series,
        zero_term as zero_term,
    )
else:
    from dovetail_core import lazy_exports

    __getattr__, __dir__ = lazy_exports(__name__)
