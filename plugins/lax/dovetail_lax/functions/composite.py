"""``composite``: operations that are made of others, and keep a name of their own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from dovetail_core import here, stage_closed, typeof
from dovetail_tree.util import tree_flatten, tree_unflatten

from ..primitives.composite import ArrayAttribute, TypeAttribute, composite_p


def composite(decomposition: Callable[..., Any], name: str, version: int = 0) -> Callable[..., Any]:
    """An operation with a name, which computes what ``decomposition`` does.

    Compilers that know the operation by its name, version and attributes may do it in their own
    way; others compile the decomposition. Under ``vmap`` and differentiation, whose results are
    other operations, it is the decomposition that is transformed.

    Args:
        decomposition: a function of pytrees of arrays (by position) and of attributes (by keyword),
            which closes over no traced value.
        name: for example ``"my.tangent"``.
        version: to be raised when its meaning changes.

    Returns:
        A function of the same arguments. Attributes are numbers, strings, booleans, dtypes, NumPy
        arrays, None, and sequences and mappings of them.

    Raises:
        TypeError (when called): an attribute is none of these. ValueError: the name is empty.
    """
    if not isinstance(name, str) or not name:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise ValueError(f"composite: a name is a string that is not empty, got {name!r}{here()}")

    def call(*args: Any, **attributes: Any) -> Any:
        leaves, in_tree = tree_flatten(args)
        trees: list[Any] = []

        def flat(*xs: Any) -> list[Any]:
            result, tree = tree_flatten(decomposition(*tree_unflatten(in_tree, xs), **attributes))
            trees[:] = [tree]
            return result

        program = stage_closed(flat, [typeof(x) for x in leaves], name)
        if program.effects:
            raise TypeError(
                f"composite {name!r} has effects{here()}: a compiler that knows it by its name "
                "would leave them out. Take prints, callbacks and references out of it."
            )
        entries = tuple((k, _attribute(name, k, v)) for k, v in attributes.items() if v is not None)
        outs = composite_p.bind(
            *leaves, program=program, name=name, version=int(version), attributes=entries
        )
        return tree_unflatten(trees[0], outs)

    return call


def _attribute(name: str, key: str, value: Any) -> Any:
    if isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, np.dtype):
        return TypeAttribute(value)
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return ArrayAttribute(value.shape, value.dtype, value.tobytes())
    if isinstance(value, Mapping):
        return ("mapping", *((str(k), _attribute(name, key, v)) for k, v in value.items()))
    if isinstance(value, (list, tuple)):
        return ("sequence", *(_attribute(name, key, v) for v in value))
    raise TypeError(
        f"composite {name!r} got attribute {key} of type {type(value).__name__}{here()}: "
        "attributes are numbers, strings, booleans, dtypes, NumPy arrays, None, and sequences and "
        "mappings of them. Pass arrays by position."
    )
