"""``jax.interpreters.batching``."""

from dovetail_batching import (
    BatchTracer as BatchTracer,
    register_vmappable as register_vmappable,
    unregister_vmappable as unregister_vmappable,
)

from ...extending.batching import (
    axis_primitive_batchers as axis_primitive_batchers,
    bdim_at_front as bdim_at_front,
    broadcast as broadcast,
    defbroadcasting as defbroadcasting,
    defreducer as defreducer,
    defvectorized as defvectorized,
    fancy_primitive_batchers as fancy_primitive_batchers,
    moveaxis as moveaxis,
    not_mapped as not_mapped,
    primitive_batchers as primitive_batchers,
)
from ...lookup import attributes as _attributes

__getattr__, __dir__ = _attributes("jax.interpreters.batching")
