"""``jax._src.array``: what pickles of arrays name. Those that JAX wrote are read, and those that
are written under the import hook are read by JAX.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from dovetail_backends import rebuild

from ..absent_names import public


def _reconstruct_array(
    fun: Callable[..., Any], args: tuple[Any, ...], arr_state: Any, aval_state: Mapping[str, Any]
) -> Any:
    """An array of what NumPy's pickles of arrays consist of, and whether its type is weak."""
    value = fun(*args)
    value.__setstate__(arr_state)
    return rebuild(value, bool(aval_state.get("weak_type")))


_reconstruct_array.__module__ = "jax._src.array"  # what pickles say


def reduced(x: Any) -> tuple[Any, ...]:
    """The result of ``__reduce__`` of an array."""
    fun, args, state = np.asarray(x).__reduce__()[:3]  # type: ignore[misc]
    return _reconstruct_array, (fun, args, state, {"weak_type": x.aval.weak_type})


def __getattr__(name: str) -> Any:
    return public("jax._src.array", name)
