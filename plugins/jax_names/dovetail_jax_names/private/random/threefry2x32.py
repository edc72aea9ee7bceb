"""``jax._src.random.threefry2x32``: the functions that pickles of keys name. quax: imports it, and
looks at its name.
"""

from __future__ import annotations

from typing import Any

from ...absent_names import public
from .functions import functions

_MODULE = "jax._src.random.threefry2x32"
FUNCTIONS = functions(
    "threefry2x32", _MODULE,
    "threefry_seed", "threefry_split", "threefry_random_bits", "threefry_fold_in",
)  # fmt: skip
threefry_seed, threefry_split, threefry_random_bits, threefry_fold_in = FUNCTIONS


def __getattr__(name: str) -> Any:
    return public(_MODULE, name)


__name__ = _MODULE
