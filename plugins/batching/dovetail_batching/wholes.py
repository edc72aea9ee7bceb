"""Containers that ``vmap`` maps as wholes: one axis for all that they hold, as their class says.

A sparse array that is batched is made of arrays, and its shape has the mapped axis, too: it is not
enough to map what it is made of.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from dovetail_core import here
from dovetail_core.tree.util import tree_flatten, tree_leaves, tree_map, tree_unflatten

Map = Callable[[Any, Any], Any]
"""``map(value, axis)``: a value that the container holds, without the mapped axis or with it."""


class Vmappable(NamedTuple):
    """How containers of a class are mapped; see :func:`register_vmappable`."""

    spec_type: type
    to_elt: Callable[[Map, Any, Any, Any], Any]
    from_elt: Callable[[Map, Any, Any, Any], Any]


_registered: dict[type, Vmappable] = {}


def register_vmappable(
    data_type: type,
    spec_type: type,
    axis_size_type: type,
    to_elt: Callable[[Map, Any, Any, Any], Any],
    from_elt: Callable[[Map, Any, Any, Any], Any],
    make_iota: Callable[..., Any] | None = None,
) -> None:
    """Have ``vmap`` map the containers of a class, which is a pytree, as wholes.

    Args:
        spec_type: what may stand for them in ``in_axes`` and ``out_axes``.
        axis_size_type, make_iota: there for the sake of JAX's signature.
        to_elt: ``to_elt(map, size, value, spec)`` is what the function sees: a value in which
            ``map(x, axis)`` took the place of each array that has the mapped axis. It may be called
            several times, without a size before that is known, and does nothing but call ``map``,
            in one order.
        from_elt: ``from_elt(map, size, element, spec)`` is the result for one that the function
            returned.

    Raises:
        ValueError: the class is registered already.
    """
    if data_type in _registered:
        raise ValueError(f"register_vmappable: {data_type.__name__} is registered already{here()}")
    _registered[data_type] = Vmappable(spec_type, to_elt, from_elt)


def unregister_vmappable(data_type: type) -> None:
    """Undo :func:`register_vmappable`."""
    _registered.pop(data_type)


def is_whole(x: Any) -> bool:
    """Whether ``x`` is mapped as a whole."""
    return x.__class__ in _registered


def flatten(tree: Any) -> tuple[list[Any], Any]:
    """The leaves of a tree, and its structure; what is mapped as a whole is a leaf."""
    return tree_flatten(tree, is_leaf=is_whole) if _registered else tree_flatten(tree)


def check_spec(value: Any, spec: Any) -> None:
    """That ``spec`` is one for containers of the class of ``value``, or None.

    Raises:
        TypeError: it is not.
    """
    wanted = _registered[value.__class__].spec_type
    if spec is not None and not isinstance(spec, wanted):
        raise TypeError(f"expected {wanted.__name__} or None for {value!r}, got {spec!r}")


class Inputs(NamedTuple):
    """Flat arguments of which some are wholes, as arrays with their axes."""

    arrays: list[Any]
    dims: list[Any]
    origin: list[int]
    """From which flat argument each array is."""
    rebuild: Callable[[Sequence[Any], int], list[Any]]
    """The flat arguments that the function sees, from what it sees of the arrays."""


def spread(leaves: list[Any], dims: list[Any]) -> Inputs:
    """Flat arguments as arrays with their axes."""
    if not any(is_whole(x) for x in leaves):
        return Inputs(leaves, dims, list(range(len(leaves))), lambda xs, size: list(xs))
    parts = [_collected(x, d) for x, d in zip(leaves, dims)]

    def rebuild(xs: Sequence[Any], size: int) -> list[Any]:
        left = iter(xs)
        return [_mapped(x, d, size, lambda v, _: next(left)) for x, d in zip(leaves, dims)]

    found = [(x, d, i) for i, some in enumerate(parts) for x, d in some]
    return Inputs(
        [x for x, _, _ in found], [d for _, d, _ in found], [i for *_, i in found], rebuild
    )


def _collected(x: Any, dim: Any) -> list[tuple[Any, Any]]:
    found: list[tuple[Any, Any]] = []

    def note(v: Any, d: Any) -> Any:
        found.append((v, d))
        return v

    _mapped(x, dim, None, note)
    return found


def _mapped(x: Any, dim: Any, size: Any, f: Map) -> Any:
    """``x`` with ``f(array, axis)`` for the arrays that it is made of, or for itself."""

    def on_tree(v: Any, d: Any) -> Any:
        return tree_map(lambda y: f(y, d), v)

    if not is_whole(x):
        return f(x, dim)
    if dim is None:
        return on_tree(x, None)
    return _registered[x.__class__].to_elt(on_tree, size, x, dim)


class Outputs:
    """What a mapped function returned: its structure, and the wholes in it as arrays."""

    def __init__(self, result: Any) -> None:
        self.elements, self.tree = flatten(result)
        self.parts = [tree_leaves(x) if is_whole(x) else [x] for x in self.elements]
        self.arrays = [x for some in self.parts for x in some]

    def prefixed(self, results: Sequence[Any]) -> Any:
        """The tree that ``out_axes`` is a prefix of, from results for the arrays."""
        left = iter(results)
        found = [[next(left) for _ in some] for some in self.parts]
        leaves = [x if is_whole(x) else some[0] for x, some in zip(self.elements, found)]
        return tree_unflatten(self.tree, leaves)

    def place(self, results: Sequence[Any], dims: Sequence[Any], size: int, place: Map) -> Any:
        """The result of the mapped function; ``place`` puts the mapped axis of one array."""
        left = iter(results)
        outs: list[Any] = []
        for x, some, dim in zip(self.elements, self.parts, dims):
            found = {id(part): next(left) for part in some}
            if not is_whole(x):
                outs.append(place(found[id(x)], dim))
                continue

            def on_tree(v: Any, d: Any, found: dict[int, Any] = found) -> Any:
                return tree_map(lambda y: place(found[id(y)], d), v)

            outs.append(_registered[x.__class__].from_elt(on_tree, size, x, dim))
        return tree_unflatten(self.tree, outs)
