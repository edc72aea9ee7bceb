"""The functions that ``vjp`` returns: pulling cotangents back, and adding them to references."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple, cast

import numpy as np

from dovetail_core import float0
from dovetail_tree.util import Partial, register_pytree_node, tree_flatten, tree_unflatten

from .arguments import check_types, here, is_float0, like_primal, live_tangent
from .places import DidntWant, DontWant, GradRef


class Pull(NamedTuple):
    """What a pulled back cotangent must look like, and what it becomes; see ``vjp``."""

    name: str
    in_tree: Any
    out_tree: Any
    in_avals: tuple[Any, ...]
    out_avals: tuple[Any, ...]

    def __call__(self, linear: Any, cotangent: Any, *, into: Sequence[Any] | None = None) -> Any:
        """Cotangents of the arguments; ``into`` has a place for each of them."""
        given, tree = tree_flatten(cotangent)
        if tree != self.out_tree:
            raise ValueError(
                f"the vjp function of {self.name} takes a cotangent of the structure of its output "
                f"{self.out_tree}, got {tree}{here()}"
            )
        wanted = [a.cotangent_type() for a in self.out_avals]
        given = [_without_meaning(t, a) for t, a in zip(given, self.out_avals)]
        check_types(f"vjp of {self.name}: the cotangent", given, wanted, ValueError)
        cts = [live_tangent(t, a) for t, a in zip(given, wanted)]
        takers = None if into is None else [_accumulator(x) for x in into]
        result = linear.transpose(cts, takers)
        shown = [like_primal(t, a, True) for t, a in zip(result, self.in_avals)]
        if takers is not None:
            shown = [_told(x, t) for x, t in zip(into or (), shown)]
        return tree_unflatten(self.in_tree, shown)


def _without_meaning(t: Any, aval: Any) -> Any:
    """A cotangent; float0 where it is that of integers, of which only the shape is looked at."""
    if is_float0(t) or getattr(aval.cotangent_type(), "dtype", None) != float0:
        return t
    return np.zeros(aval.shape, float0) if np.shape(t) == aval.shape else t


class VJP(Partial):
    """The function that pulls cotangents back, as ``vjp`` returns it: a pytree of its residuals."""

    def with_refs(self, *places: Any) -> Callable[[Any], Any]:
        """The function with cotangents put elsewhere than in its result.

        Args:
            places: the structure of the arguments, with at each leaf a reference, to which the
                cotangent is added (it has its type), ``ad.DontWant()`` or None: the cotangent is
                not wanted, or anything else, say ``ad.GradValue()``: it is returned.

        Returns: a function from a cotangent of the value to the tuple of cotangents, with
            ``ad.GradRef()``, ``ad.DidntWant()`` or None for those that are not returned.

        Raises:
            TypeError: the structure is not that of the arguments, or a reference has another type.
        """
        pull: Any = self.func
        name, in_tree, in_avals = pull.name, pull.in_tree, pull.in_avals
        leaves, tree = tree_flatten(tuple(places), is_leaf=_is_place)
        if tree != in_tree:
            raise TypeError(
                f"with_refs of the vjp of {name}: {tree} is not the structure of the arguments, "
                f"{in_tree}. Give a reference, None (not wanted) or a value for each of them."
            )
        for i, (x, aval) in enumerate(zip(leaves, in_avals)):
            _check_place(name, i, x, aval)
        return partial(pull, *self.args, into=leaves)


register_pytree_node(
    VJP,
    lambda f: ((f.args, f.keywords), f.func),
    lambda func, children: cast("VJP", VJP(func, *children[0], **children[1])),
)


def _is_place(x: Any) -> bool:
    return x is None or hasattr(x, "accum")


class _Dropped:
    """Takes a cotangent that nobody wants."""

    def accum(self, cotangent: Any) -> None:
        """Forget it."""


_DROPPED = _Dropped()


def _told(place: Any, cotangent: Any) -> Any:
    """What is returned for an argument."""
    if hasattr(place, "accum"):
        return GradRef()
    if isinstance(place, DontWant):
        return DidntWant()
    return None if place is None else cotangent


def _accumulator(place: Any) -> Any:
    """What collects a cotangent by itself, or None where it is returned."""
    if place is None or isinstance(place, DontWant):
        return _DROPPED
    return place if hasattr(place, "accum") else None


def _check_place(name: str, i: int, place: Any, aval: Any) -> None:
    if place is None or not hasattr(place, "accum"):
        return
    want: Any = aval.cotangent_type()
    if place.shape != want.shape or place.dtype != want.dtype:
        raise TypeError(
            f"with_refs of the vjp of {name}: leaf {i}, {place!r}, takes no cotangents of type "
            f"{want.str_short()}. Make it with dovetail.new_ref of zeros of that type."
        )
