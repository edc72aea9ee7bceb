"""``jax._src.random.rbg``: the functions that pickles of keys name."""

from __future__ import annotations

from typing import Any

from ...absent_names import public
from .functions import functions

_MODULE = "jax._src.random.rbg"
FUNCTIONS = functions("rbg", _MODULE, "_rbg_seed", "_rbg_split", "_rbg_random_bits", "_rbg_fold_in")
_rbg_seed, _rbg_split, _rbg_random_bits, _rbg_fold_in = FUNCTIONS
UNSAFE = functions(
    "unsafe_rbg", _MODULE,
    "_unsafe_rbg_seed", "_unsafe_rbg_split", "_unsafe_rbg_random_bits", "_unsafe_rbg_fold_in",
)._replace(seed=_rbg_seed, random_bits=_rbg_random_bits)  # fmt: skip
_unsafe_rbg_split, _unsafe_rbg_fold_in = UNSAFE.split, UNSAFE.fold_in


def __getattr__(name: str) -> Any:
    return public(_MODULE, name)
