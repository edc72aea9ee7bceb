"""``shard_alike``: two values that the compiler divides in one way."""

from __future__ import annotations

from typing import Any, TypeVar

from dovetail_base.source import here
from dovetail_core import Primitive, typeof
from dovetail_tree.util import tree_flatten

T = TypeVar("T")
U = TypeVar("U")

shard_alike_p = Primitive("shard_alike", multiple_results=True).def_traits(
    linear=(slice(None),), moves=True
)


@shard_alike_p.def_abstract_eval
def _type(*avals: Any) -> list[Any]:
    return list(avals)


def shard_alike(x: T, y: U) -> tuple[T, U]:
    """``x`` and ``y``, pytrees of one structure whose arrays have the same shapes, which a program
    divides over devices alike: what XLA finds of the one, by propagation, holds of the other.

    In derivatives tangents and cotangents are divided alike, too.

    Raises:
        ValueError: the structures, or the shapes of two leaves, differ.

    Example:
        ``shard_alike(x, jnp.arange(8.0))[1]`` is divided as ``x`` is.
    """
    (xs, tree), (ys, other) = tree_flatten(x), tree_flatten(y)
    if tree != other:
        raise ValueError(f"shard_alike{here()}: x has the structure {tree}, and y has {other}.")
    for i, pair in enumerate(zip(xs, ys)):
        shapes: Any = [getattr(typeof(a), "shape", ()) for a in pair]
        if shapes[0] != shapes[1]:
            raise ValueError(
                f"shard_alike{here()}: leaf {i} has shape {shapes[0]} in x and {shapes[1]} in y."
            )
    pairs = [shard_alike_p.bind(a, b) for a, b in zip(xs, ys)]
    return tree.unflatten([a for a, _ in pairs]), tree.unflatten([b for _, b in pairs])
