"""The primitive that names a value: the identity, which every transformation leaves in place."""

from __future__ import annotations

from typing import Any

import dovetail_tree.util as tree
from dovetail_core import Primitive, here, is_value

sow_p = Primitive("acme.sow")


@sow_p.def_abstract_eval
def _sow_type(x: Any, *, name: str) -> Any:
    return x


@sow_p.def_decomposition
def _sow(x: Any, *, name: str) -> Any:
    return x


def sow(x: Any, *, name: str) -> Any:
    """``x``, an array or a pytree of arrays, as a value that ``reap`` and ``plant`` find by name.

    A leaf of a pytree is named ``name`` and its path: ``sow({"a": x}, name="h")`` sows ``h['a']``.

    Raises:
        TypeError: ``x`` holds something that is no value.
    """
    leaves, structure = tree.tree_flatten_with_path(x)
    for path, leaf in leaves:
        if not is_value(leaf):
            where = name + tree.keystr(path)
            raise TypeError(f"sow: {where!r}{here()} is of type {type(leaf).__name__}, no array")
    sown = [sow_p.bind(leaf, name=name + tree.keystr(path)) for path, leaf in leaves]
    return tree.tree_unflatten(structure, sown)
