"""``jax.extend.mlir``: modules as portable artifacts; MLIR's bindings are the modules below it."""

from __future__ import annotations

from typing import Any

from dovetail_xla.mlir import (
    deserialize_portable_artifact as deserialize_portable_artifact,
    hlo_to_stablehlo as hlo_to_stablehlo,
    refine_polymorphic_shapes as refine_polymorphic_shapes,
    serialize_portable_artifact as serialize_portable_artifact,
)

from ....lookup import attributes as _attributes


def lower_with_sharding_in_types(ctx: Any, op: Any, aval: Any) -> Any:
    """``op`` itself: types say nothing of where values are placed, so nothing is to be added."""
    return op


__getattr__, __dir__ = _attributes("jax.extend.mlir")
