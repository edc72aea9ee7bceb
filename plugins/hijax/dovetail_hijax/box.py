"""Boxes: mutable values that contain any pytree, also of another structure after an operation.

A box's type in a program is that of its contents at the beginning; ``mut_types`` has the final
types. Like other mutable values, boxes are discharged before a program is lowered.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dovetail_core import (
    AbstractValue,
    Primitive,
    ReadEffect,
    RetypeEffect,
    ShapedArray,
    WriteEffect,
    current_source,
    describe_source,
    is_value,
    register_type,
    staging,
    typeof,
    zeros_like_aval,
)
from dovetail_tree.util import tree_flatten, tree_structure, tree_unflatten

from .types import MutableHiType


@dataclass(frozen=True)
class BoxType(MutableHiType):
    """The type of a box that holds a pytree of structure ``tree`` with leaves of types ``avals``.

    The contents of a ``fixed`` box keep their types.
    """

    tree: Any
    avals: tuple[AbstractValue, ...]
    fixed: bool = False

    def content_types(self) -> tuple[AbstractValue, ...]:
        return self.avals

    def take(self, value: Any) -> Sequence[Any]:
        return value.leaves

    def put(self, value: Any, contents: Sequence[Any]) -> None:
        value.tree, value.leaves = self.tree, list(contents)

    def read(self, value: Any) -> Sequence[Any]:
        return tree_flatten(box_get(value))[0]

    def write(self, value: Any, contents: Sequence[Any]) -> None:
        box_set(value, tree_unflatten(self.tree, contents))

    def tangent_type(self) -> BoxType:
        return BoxType(self.tree, tuple(a.tangent_type() for a in self.avals))

    def get(self: Any) -> Any:  # ``self`` is the traced box in these two
        """The contents of the box."""
        return box_get(self)

    def set(self: Any, value: Any) -> None:
        """Put a pytree into the box."""
        box_set(self, value)

    def str_short(self) -> str:
        return f"Box{{{_spell(self.tree, self.avals)}}}"


def _spell(tree: Any, avals: Sequence[AbstractValue]) -> str:
    class Text(str):
        __repr__ = str.__str__

    return str(tree_unflatten(tree, [Text(a.str_short()) for a in avals]))


EMPTY = tree_structure(None)


class Box:
    """A box outside of transformed functions: see ``new_box``. ``get`` and ``set`` any pytree."""

    __slots__ = ("tree", "leaves", "fixed", "__weakref__")

    def __init__(self, value: Any = None, *, fixed: bool = False) -> None:
        leaves, self.tree = tree_flatten(value)
        self.leaves: list[Any] = leaves
        self.fixed = fixed

    def get(self) -> Any:
        """The contents of the box."""
        return box_get(self)

    def set(self, value: Any) -> None:
        """Put a pytree into the box."""
        box_set(self, value)

    def __repr__(self) -> str:
        return f"Box({tree_unflatten(self.tree, self.leaves)!r})"


register_type(Box, lambda b: BoxType(b.tree, tuple(typeof(x).strong() for x in b.leaves), b.fixed))

new_p = Primitive("box.new", allocates=True)
get_p = Primitive("box.get", stateful=True, multiple_results=True)
set_p = Primitive("box.set", stateful=True, multiple_results=True)


@new_p.def_abstract_eval
def _new(*avals: Any, tree: Any, fixed: bool) -> BoxType:
    return BoxType(tree, tuple(a.strong() for a in avals), fixed)


@get_p.def_effectful_abstract_eval
def _get(box: Any, *, held: BoxType) -> Any:
    return list(held.avals), {ReadEffect(0)}


@set_p.def_effectful_abstract_eval
def _set(box: Any, *avals: Any, tree: Any, before: BoxType) -> Any:
    after = BoxType(tree, tuple(a.strong() for a in avals), box.fixed)
    effects: set[Any] = {WriteEffect(0)}
    return [], effects if after == before else effects | {RetypeEffect(0, after)}


def new_box(type: Any = None) -> Any:
    """A new box, which is empty and accepts any contents.

    Args:
        type: a pytree of types (or of objects with ``shape`` and ``dtype``). If given, the box
            accepts only contents of these types, and contains zeros at first.
    """
    if type is None:
        return new_p.bind(tree=EMPTY, fixed=False)
    leaves, tree = tree_flatten(type)
    return new_p.bind(*[zeros_like_aval(_type(x)) for x in leaves], tree=tree, fixed=True)


def _type(x: Any) -> AbstractValue:
    if isinstance(x, AbstractValue):
        return x.strong()
    return typeof(x).strong() if is_value(x) else ShapedArray(x.shape, x.dtype)


def box_get(box: Any) -> Any:
    """The contents of a box, a pytree."""
    held = _held(box, "box_get")
    return tree_unflatten(held.tree, get_p.bind(box, held=held))


def box_set(box: Any, value: Any) -> None:
    """Put a pytree of arrays and high values into a box.

    Raises:
        TypeError: a leaf is not a value, or the box has another fixed type; names both types.
    """
    held = _held(box, "box_set")
    leaves, tree = tree_flatten(value)
    avals = tuple([typeof(x).strong() for x in leaves])
    if held.fixed and (tree, avals) != (held.tree, held.avals):
        raise TypeError(
            f"a value of type {_spell(tree, avals)} is put into a box that was made for "
            f"{_spell(held.tree, held.avals)}{describe_source(current_source())}: convert it, or "
            "make the box by new_box() without a type."
        )
    set_p.bind(box, *leaves, tree=tree, before=held)


def _held(box: Any, what: str) -> BoxType:
    aval = staging.current_type(box)
    if not isinstance(aval, BoxType):
        raise TypeError(
            f"{what} takes a box, got a value of type {aval.str_short()}"
            f"{describe_source(current_source())}."
        )
    return aval
