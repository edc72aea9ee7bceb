"""Ordinary differential equations: the public names of ``jax.experimental.ode``."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dovetail_experimental.ode.solving import odeint as odeint
    from dovetail_experimental.ode.steps import (
        abs2 as abs2,
        fit_4th_order_polynomial as fit_4th_order_polynomial,
        initial_step_size as initial_step_size,
        interp_fit_dopri as interp_fit_dopri,
        mean_error_ratio as mean_error_ratio,
        optimal_step_size as optimal_step_size,
        runge_kutta_step as runge_kutta_step,
    )
else:
    from dovetail_core import lazy_exports

    __getattr__, __dir__ = lazy_exports(__name__)
