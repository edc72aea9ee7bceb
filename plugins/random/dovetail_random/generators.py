"""Choosing a generator of random bits: by its name, by its keys' dtype, or the default one."""

from __future__ import annotations

import copyreg
from typing import Any

from dovetail_core import Option, config, here

# Importing the generators makes them known.
from . import rbg as rbg, threefry as threefry
from .implementations import Implementation, KeyType, known


def implementation(spec: Any = None) -> Implementation:
    """The implementation that ``spec`` means: a name, a key's dtype, itself; None for the default.

    Raises:
        ValueError: no implementation has that name; lists those that exist.
        TypeError: ``spec`` is something else.
    """
    if spec is None:
        spec = default_prng_impl.state.value
    if isinstance(spec, Implementation):
        return spec
    if isinstance(spec, KeyType):
        return spec.impl
    if not isinstance(spec, str):
        raise TypeError(
            "a random bit generator is given by its name or by the dtype of its keys, got "
            f"{spec!r} of type {type(spec).__name__}{here()}"
        )
    found = known.get(spec)
    if found is None:
        names = ", ".join(map(repr, sorted(known)))
        raise ValueError(f"there is no random bit generator {spec!r}; known are {names}{here()}")
    return found


def _dtype_named(name: str) -> KeyType:
    return implementation(name).dtype


default_prng_impl = config.add(
    Option(
        "default_prng_impl",
        "threefry2x32",
        "The generator of keys that name none, and of raw keys.",
        check=lambda spec: implementation(spec).name,
        traced=True,
    )
)
# A generator is pickled as its name, since there is one object of each.
copyreg.pickle(Implementation, lambda impl: (implementation, (impl.name,)))
copyreg.pickle(KeyType, lambda dtype: (_dtype_named, (dtype.impl.name,)))
