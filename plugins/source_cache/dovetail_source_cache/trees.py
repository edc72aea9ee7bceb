"""How the structure of arguments is taken into a digest."""

from __future__ import annotations

from typing import Any

from dovetail_core.tree.registry import functions_of, named_tuple_fields

from .digest import Digest


def add_structure(digest: Digest, tree: Any) -> None:
    """Take in a structure, with what takes its containers apart and makes them."""
    data = tree.node_data()
    if data is None:
        digest.tag("leaf" if tree.num_leaves else "none")
        return
    kind, aux = data
    children = tree.children()
    digest.tag("node", len(children))
    digest.add(kind, f"the class {kind.__qualname__}")
    if kind not in (tuple, list, type(None)) and not named_tuple_fields(kind):
        digest.add(
            list(aux) if kind is dict else aux, f"what a {kind.__qualname__} is beside arrays"
        )
        if kind is not dict:
            digest.add(
                functions_of(kind), f"the functions by which {kind.__qualname__} is a pytree"
            )
    for child in children:
        add_structure(digest, child)
