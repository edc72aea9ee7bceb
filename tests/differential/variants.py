"""What the names in calls stand for: element types, shapes and hostile numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

DEFAULT = "float32"
REAL = ("float16", "bfloat16", "float32", "float64")
NAMES = "vwmtibcz"
TYPES = ("float16", "bfloat16", "int32", "int8", "uint8", "bool", "complex64")
MIXED = "x64"
"""Values of 32 bits where types of 64 bits are enabled: numbers, counts and indices have these."""
WIDE = ("float64", "int64", "complex128", MIXED)
HOSTILE = {
    "zeros": [0.0, -0.0, 1.0],
    "specials": [np.nan, np.inf, -np.inf],
    "tiny": [1e-40, -1e-45, 1.2e-38],
    "huge": [3e38, -1e30, 1e10],
    "negative": [-0.5, -1.0, -2.5],
}
EMPTY = "empty"
VARIANTS = (DEFAULT, *TYPES, *WIDE, *HOSTILE, EMPTY)


def is_wide(variant: str) -> bool:
    """Whether a variant needs 64-bit types."""
    return variant in WIDE


def has_gradients(variant: str) -> bool:
    """Whether derivatives are compared in a variant."""
    return variant in (DEFAULT, "float64", "zeros", "negative", EMPTY)


def changed(variant: str, names: dict[str, Any]) -> dict[str, Any]:
    """The names that mean something else in a variant."""
    jnp = names["jnp"]
    own = {n: names[n] for n in NAMES} | {"p": jnp.array([0.25, 0.5, 0.75])}
    if variant in (DEFAULT, MIXED):
        return own
    if variant == EMPTY:
        shapes = {"m": (0, 0), "t": (0, 3, 4), "z": ()}
        return {n: jnp.zeros(shapes.get(n, (0,)), x.dtype) for n, x in own.items()}
    if variant in HOSTILE:
        vector = jnp.array(HOSTILE[variant], "float32")
        return own | {"v": vector, "w": vector[::-1]}
    dtype = jnp.dtype(variant)
    if dtype.kind in "iub":
        return own | {n: jnp.asarray(own[n] * 4).astype(dtype) for n in "vwmtz"}
    other = {"complex128": "c", "complex64": "c"}.get(variant)
    converted = {n: own[n].astype(dtype) for n in ("vwmtzp" if other is None else "vwmtzc")}
    return own | converted
