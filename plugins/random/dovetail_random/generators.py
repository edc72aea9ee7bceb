"""Choosing a generator of random bits: by its name, by its keys' dtype, or the default one."""

from __future__ import annotations

import copyreg
from functools import partial
from typing import Any

from dovetail_base.options import as_bool
from dovetail_base.source import warn_here
from dovetail_core import Option, config, here, registry
from dovetail_text.syntax import register_parameter

# Importing the generators makes them known.
from . import ciphers as ciphers, rbg as rbg, threefry as threefry
from .implementations import Implementation, KeyType, generators, register_prng_impl

COLLECTION = "random.generators"


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
    return generators.get(spec) or _of_plugin(spec)


def _of_plugin(name: str) -> Implementation:
    """A generator that a plugin adds to the collection ``random.generators``."""
    added = registry().members(COLLECTION)
    if name in added:
        return register_prng_impl(registry().member(COLLECTION, name, partial(_fits, name)))
    names = ", ".join(map(repr, sorted({*generators, *added})))
    raise ValueError(f"there is no random bit generator {name!r}; known are {names}{here()}")


def _fits(name: str, thing: Any) -> str:
    if not isinstance(thing, Implementation):
        return "it must be an Implementation (of dovetail_random)"
    return "" if thing.name == name else f"it is named {thing.name!r}"


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


def _check_legacy(value: Any) -> Any:
    if value not in ("allow", "warn", "error"):
        raise ValueError(f"legacy_prng_key is 'allow', 'warn' or 'error', not {value!r}")
    return value


legacy_prng_key = config.add(
    Option(
        "legacy_prng_key",
        "allow",
        "What happens where a raw key, an array of words, is given instead of a typed one: "
        "'allow', 'warn' or 'error'.",
        check=_check_legacy,
        traced=True,
    )
)
enable_custom_prng = config.add(
    Option(
        "enable_custom_prng",
        False,
        "PRNGKey makes typed keys, as key does.",
        check=as_bool,
        traced=True,
    )
)


def _as_int(value: Any) -> int:
    if isinstance(value, (int, str)):  # text comes from the environment
        return int(value)
    raise ValueError(f"random_seed_offset is an integer, not {value!r}")


random_seed_offset = config.add(
    Option(
        "random_seed_offset",
        0,
        "An integer that is added to each seed of which a key is made.",
        check=_as_int,
        traced=True,
    )
)


def note_raw(name: str) -> None:
    """Say that ``name`` was given a raw key, as the option ``legacy_prng_key`` wants.

    Raises:
        ValueError: it forbids raw keys.
    """
    choice = legacy_prng_key.value
    if choice == "allow":
        return
    text = (
        f"{name} was given a raw key, an array of uint32 words{here()}. Make typed keys with "
        "dovetail.random.key(seed), or of raw ones with wrap_key_data (option legacy_prng_key)."
    )
    if choice == "error":
        raise ValueError(text)
    warn_here(text, UserWarning)


register_parameter(Implementation, lambda impl: impl.name, implementation, name="prng")
# A generator is pickled as its name, since there is one object of each.
copyreg.pickle(Implementation, lambda impl: (implementation, (impl.name,)))
copyreg.pickle(KeyType, lambda dtype: (_dtype_named, (dtype.impl.name,)))
