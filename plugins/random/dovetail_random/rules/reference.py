"""``threefry2x32`` with NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail_backends import reference_rules

from ..threefry import PARITY, ROTATIONS, U32, threefry2x32_p


@reference_rules.register(threefry2x32_p)
def _threefry2x32(*operands: Any) -> list[Any]:
    k0, k1, x0, x1 = np.broadcast_arrays(*operands)
    ks = (k0, k1, k0 ^ k1 ^ U32.type(PARITY))
    with np.errstate(over="ignore"):  # uint32 wraps around, and NumPy warns of it for scalars
        x0, x1 = x0 + k0, x1 + k1
        for group in range(5):
            for distance in ROTATIONS[group % 2]:
                x0 = x0 + x1
                x1 = (x1 << U32.type(distance) | x1 >> U32.type(32 - distance)) ^ x0
            x0 = x0 + ks[(group + 1) % 3]
            x1 = x1 + ks[(group + 2) % 3] + U32.type(group + 1)
    return [np.asarray(x0), np.asarray(x1)]
