"""Batching: ``vmap``, and collectives over mapped axes."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .api import (
        mapped_arguments as mapped_arguments,
        mapped_results as mapped_results,
        vmap as vmap,
    )
    from .tables import (
        BatchRule as BatchRule,
        axis_primitives as axis_primitives,
        batch_rules as batch_rules,
    )
    from .trace import (
        Axis as Axis,
        BatchTrace as BatchTrace,
        BatchTracer as BatchTracer,
        batch_values as batch_values,
        carrier_of as carrier_of,
        trace_makers as trace_makers,
    )
    from .vmappable import (
        Vmappable as Vmappable,
        register_vmappable as register_vmappable,
        unregister_vmappable as unregister_vmappable,
    )
else:
    from dovetail_core import lazy_exports

    __getattr__, __dir__ = lazy_exports(__name__)
