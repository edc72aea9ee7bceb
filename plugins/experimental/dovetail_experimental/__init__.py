"""Modules that JAX has as examples and experiments: networks, optimizers, ODE solvers."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from . import (
        compilation_cache as compilation_cache,
        compute_on as compute_on,
        jet as jet,
        layout as layout,
        ode as ode,
        optimizers as optimizers,
        profiler as profiler,
        random as random,
        roofline as roofline,
        scheduling_groups as scheduling_groups,
        stax as stax,
        x64_context as x64_context,
        xla_metadata as xla_metadata,
    )
else:
    from dovetail_core import lazy_exports

    __getattr__, __dir__ = lazy_exports(__name__)
