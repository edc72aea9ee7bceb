"""Contractions with NumPy: a sum of products spelled as one ``einsum``."""

from __future__ import annotations

from string import ascii_letters
from typing import Any

import numpy as np

from dovetail_backends import reference_rules

from ...dtypes import kind_of, promote_types
from ...primitives.dot import dot_general_p
from .kinds import Array, quiet
from .reductions import computing


def _dot_general(
    lhs: Array,
    rhs: Array,
    *,
    dimension_numbers: Any,
    precision: Any,
    preferred_element_type: Any,
) -> Array:
    (contract_l, contract_r), (batch_l, batch_r) = dimension_numbers
    left = list(ascii_letters[: lhs.ndim])
    right = list(ascii_letters[lhs.ndim : lhs.ndim + rhs.ndim])
    for i, j in zip((*contract_l, *batch_l), (*contract_r, *batch_r)):
        right[j] = left[i]
    used = {*contract_l, *batch_l}
    out = [left[i] for i in batch_l]
    out += [c for i, c in enumerate(left) if i not in used]
    out += [c for j, c in enumerate(right) if j not in {*contract_r, *batch_r}]
    spelled = f"{''.join(left)},{''.join(right)}->{''.join(out)}"
    dtype = promote_types(lhs.dtype, rhs.dtype)
    found = summed_products(spelled, lhs.astype(dtype), rhs.astype(dtype))
    return found.astype(preferred_element_type or dtype)


def summed_products(spelled: str, x: Array, y: Array) -> Array:
    """An ``einsum`` in a wide type; of booleans, whether any product is true."""
    if kind_of(x.dtype) == "bool":
        return np.asarray(np.einsum(spelled, x.astype(int), y.astype(int))) > 0
    return np.asarray(np.einsum(spelled, computing(x), computing(y)))


reference_rules.set(dot_general_p, quiet(_dot_general))
