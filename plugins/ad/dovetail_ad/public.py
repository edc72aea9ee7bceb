"""The names that ``dovetail`` takes from the plugin ``ad``."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .functions import jvp as jvp, linearize as linearize
    from .gradient import grad as grad, value_and_grad as value_and_grad
    from .jacobians import (
        hessian as hessian,
        jacfwd as jacfwd,
        jacobian as jacobian,
        jacrev as jacrev,
    )
    from .reverse import (
        fwd_and_bwd as fwd_and_bwd,
        linear_transpose as linear_transpose,
        vjp as vjp,
    )
else:
    from dovetail_core import lazy_exports

    __getattr__, __dir__ = lazy_exports(__name__)
