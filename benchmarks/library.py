"""The library that programs of benchmarks call: Dovetail, or what ``BENCHMARK_LIBRARY`` names.

Programs that both run import it from here, under Dovetail's names.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING

NAME = os.environ.get("BENCHMARK_LIBRARY", "dovetail")

if TYPE_CHECKING:
    import dovetail as dovetail
    import dovetail.numpy as jnp
    from dovetail import lax as lax, nn as nn, random as random
else:
    dovetail = import_module(NAME)
    jnp, lax, nn, random = (import_module(f"{NAME}.{n}") for n in ("numpy", "lax", "nn", "random"))
    for part in ("image", "monitoring", "ops", "tree"):
        import_module(f"{NAME}.{part}")
