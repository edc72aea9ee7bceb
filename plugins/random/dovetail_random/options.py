"""Configuration of random keys: the default generator, and how counters are arranged."""

from __future__ import annotations

from typing import Any

from dovetail_core import Option, config
from dovetail_core.base.options import as_bool


def _check_impl(value: Any) -> str:
    from .implementations import implementation

    return implementation(value).name


default_prng_impl = config.add(
    Option(
        "default_prng_impl",
        "threefry2x32",
        "The generator of keys that name none, and of raw keys.",
        check=lambda v: v if v == "threefry2x32" else _check_impl(v),
        traced=True,
    )
)
threefry_partitionable = config.add(
    Option(
        "threefry_partitionable",
        True,
        "Whether element i of threefry's bits depends on the key and i alone, whatever the shape.",
        check=as_bool,
        traced=True,
    )
)
