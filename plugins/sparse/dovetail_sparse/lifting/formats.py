"""Sparse arrays of any format for rules that know one."""

from __future__ import annotations

from typing import Any

from dovetail_core import here

from ..base import JAXSparse
from ..bcoo.stored import Stored


def as_bcoo(x: JAXSparse) -> Any:
    """The same array in the format BCOO.

    Raises:
        NotImplementedError: its format has no way there.
    """
    if isinstance(x, Stored):
        return x
    convert = getattr(x, "to_bcoo", None)
    if convert is None:
        raise NotImplementedError(
            f"sparsify takes arrays of the formats BCOO and BCSR, got {type(x).__name__}{here()}"
        )
    return convert()


def with_data(x: JAXSparse, data: Any) -> Any:
    """The same places with other elements."""
    (_, *places), rest = x.tree_flatten()
    return type(x).tree_unflatten(rest, (data, *places))
