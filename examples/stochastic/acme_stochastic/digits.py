"""What users call: results on several machines, and how many digits they have in common."""

from __future__ import annotations

from collections.abc import Callable
from math import log10, sqrt
from typing import Any

import numpy as np
from scipy.special import chdtri, ndtri

import dovetail_numpy as dnp
import dovetail_tree.util as tree
from dovetail_batching import vmap
from dovetail_core import callable_name, here, is_inexact
from dovetail_lax import dtypes
from dovetail_random import bits

from .machine import randomly_rounded


def samples(f: Callable[..., Any], count: int = 16) -> Callable[..., Any]:
    """What ``f`` returns on ``count`` machines that round at random (``randomly_rounded``).

    Returns: a function ``(*args, key, **kwargs)`` of the arguments of ``f`` and a random key, to a
        pytree like the result of ``f`` with a further leading axis for the machines.

    Raises:
        TypeError: the last argument is not a key.
    """
    machine = randomly_rounded(f)

    def many(*args_and_key: Any, **kwargs: Any) -> Any:
        *args, key = args_and_key or (None,)
        if not dnp.issubdtype(getattr(key, "dtype", None), dtypes.prng_key):
            raise TypeError(
                f"the samples of {callable_name(f)}{here()} take a random key as last argument, "
                f"got {type(key).__name__}. dovetail.random.key(0) makes one."
            )
        seeds = bits(key, (count,), np.uint32) | np.uint32(1)
        return vmap(lambda seed: machine(seed, *args, **kwargs))(seeds)

    return many


def significant_digits(
    f: Callable[..., Any],
    count: int = 16,
    *,
    probability: float = 0.95,
    confidence: float = 0.95,
) -> Callable[..., Any]:
    """How many decimal digits of what ``f`` returns are right, for the data that it is given.

    The differences of the results of ``count`` machines to that of ``f`` are taken as samples of
    its rounding error, and this as normal: with the confidence given the error is, with the
    probability given, less than ``10 ** -digits`` of the result.

    Returns: a function ``(*args, key, **kwargs)`` of the arguments of ``f`` and a random key, to a
        pytree like the result of ``f``, of numbers between 0 and the digits of the element type.
        An integer or boolean on which all machines agree has infinitely many, another none.
    """
    many = samples(f, count)
    margin = log10(ndtri((1 + probability) / 2) * sqrt(count / chdtri(count, confidence)))

    def of_leaf(value: Any, each: Any) -> Any:
        same = each == value
        if not is_inexact(each.dtype):
            return dnp.where(dnp.all(same, 0), dnp.inf, 0.0)
        error = dnp.where(same, 0.0, dnp.abs((each - value) / value))
        found = -dnp.log10(dnp.sqrt(dnp.mean(error**2, 0))) - margin
        most = -log10(dnp.finfo(each.dtype).eps)
        return dnp.where(dnp.isfinite(value) & (found > 0), dnp.minimum(found, most), 0.0)

    def digits(*args_and_key: Any, **kwargs: Any) -> Any:
        each, value = many(*args_and_key, **kwargs), f(*args_and_key[:-1], **kwargs)
        return tree.tree_map(of_leaf, value, each)

    return digits
