"""Sample inputs of the primitives of this plugin, for tests by the matrix."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dovetail_testing import Sample
from dovetail_xla.shardings import single_device_sharding

from .placement import sharding_constraint_p
from .selection import target_device


def samples() -> Iterator[Sample]:
    """Constraints to one device."""
    params = {"sharding": single_device_sharding(target_device())}
    for shape in ((), (3,), (2, 4)):
        x = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
        yield Sample(sharding_constraint_p, (x,), params, name=f"{shape}")
