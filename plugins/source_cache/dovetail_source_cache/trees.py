"""The structure of arguments in a digest."""

from __future__ import annotations

from types import FunctionType
from typing import Any

from dovetail_tree.registry import functions_of, named_tuple_fields, node_functions

from .digest import Digest, is_written_in_library
from .modules import is_library


def add_foreign_nodes(digest: Digest) -> None:
    """Take in how the user made classes of libraries containers: code need not name these."""
    for kind, functions in list(node_functions.items()):
        if is_library(kind.__module__):
            theirs = [f for f in functions if isinstance(f, FunctionType)]
            if not all(map(is_written_in_library, theirs)):
                digest.tag("container", kind.__module__, kind.__qualname__)
                digest.add(functions, f"the functions by which {kind.__qualname__} is a pytree")


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
