"""``sparsify`` itself, and its primitive that makes an array dense."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import dovetail_tree.util as tree
from dovetail_core import lift_call

from ..base import JAXSparse
from .carrier import SparseCarrier


def is_sparse(x: Any) -> bool:
    """Whether ``x`` is a sparse array, which is a leaf here."""
    return isinstance(x, JAXSparse)


def sparsify(f: Callable[..., Any], use_tracer: bool = False) -> Callable[..., Any]:
    """A function of dense arrays as one that also takes sparse arrays.

    Inside, sparse arrays look like dense ones of their shape and dtype. Each operation on them is
    run by its rule of the table ``sparse.sparsify``, which a plugin may add to.

    Args:
        f: any function of arrays in pytrees. Keyword arguments are passed as they are.
        use_tracer: without effect: functions are never recorded first.

    Returns:
        The function. Its results are sparse where operations on sparse arrays leave them so.

    Raises:
        NotImplementedError: an operation has no rule for sparse arrays, or its result would be
            dense; ``sparse.todense`` makes an array dense.
    """

    @wraps(f)
    def sparse_f(*args: Any, **kwargs: Any) -> Any:
        leaves, structure = tree.tree_flatten(args, is_leaf=is_sparse)
        lifted = [i for i, x in enumerate(leaves) if is_sparse(x)]
        result: list[Any] = []

        def flat(*xs: Any) -> list[Any]:
            given = list(leaves)
            for i, x in zip(lifted, xs):
                given[i] = x
            out = f(*tree.tree_unflatten(structure, given), **kwargs)
            outs, out_structure = tree.tree_flatten(out, is_leaf=is_sparse)
            result[:] = [out_structure]
            return outs

        outs = lift_call(SparseCarrier(), flat, [leaves[i] for i in lifted])
        return tree.tree_unflatten(result[0], outs)

    return sparse_f
