"""Functions that say themselves how they are divided among devices, by JAX's names."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .function import custom_partitioning as custom_partitioning
    from .primitive import custom_partitioning_p as custom_partitioning_p
    from .rule import (
        BATCHING as BATCHING,
        ArrayMapping as ArrayMapping,
        CompoundFactor as CompoundFactor,
        SdyShardingRule as SdyShardingRule,
    )
else:
    from dovetail_core import lazy_exports

    __getattr__, __dir__ = lazy_exports(__name__)
