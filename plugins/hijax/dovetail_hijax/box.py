"""Boxes: places that hold any pytree, and whose contents may become another one.

A box's type in a program is that of what it holds when it enters; ``mut_types`` says what it holds
in the end. As other mutable values, boxes are discharged before a program is lowered.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

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
from dovetail_high.types import missing
from dovetail_tree.util import tree_flatten, tree_structure, tree_unflatten

from .states import cur_qdd
from .types import aval_method


class MutableHiType(AbstractValue):
    """A type of places whose contents, and their types, operations change. Subclass it.

    Either the type says what a place holds (``content_types``, ``take``, ``put``), and operations
    on such places are primitives with ``stateful=True`` and a rule in the table ``refs.discharge``.
    Or it says how contents follow from a *state*, which is ``value.cur_qdd()`` of a value
    (``lo_ty_qdd``, ``new_from_loval``, ``read_loval``, ``update_from_loval``): then operations are
    subclasses of ``HiPrimitive``, whose ``to_lo`` reads and changes a value of the user's class.
    """

    __slots__ = ()
    is_mutable: ClassVar[bool] = True
    has_mutable_type: ClassVar[bool] = True
    owns_contents: ClassVar[bool] = False
    has_qdd: bool = False
    """Whether values have a state."""
    type_state = aval_method(cur_qdd)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "lo_ty_qdd" in cls.__dict__:  # without its state a type describes no place
            cls.is_mutable, cls.has_mutable_type, cls.is_high = False, False, True
            if "has_qdd" not in cls.__dict__:
                cls.has_qdd = True

    def content_types(self) -> tuple[AbstractValue, ...]:
        missing(self, "content_types(self)", "to know what a place holds")

    def take(self, value: Any) -> Sequence[Any]:
        missing(self, "take(self, value)", "to pass what a place holds to a compiled program")

    def put(self, value: Any, contents: Sequence[Any]) -> None:
        missing(self, "put(self, value, contents)", "to update a place after a compiled program")

    def new_from_loval(self, state: Any, /, *contents: Any) -> Any:
        """A value in ``state`` that holds these arrays."""
        missing(self, "new_from_loval(self, state, *contents)", "to trace what is done to a place")

    def read_loval(self, state: Any, value: Any, /) -> Sequence[Any]:
        """The arrays that a value in ``state`` holds."""
        missing(self, "read_loval(self, state, value)", "to pass what a place holds to a program")

    def update_from_loval(self, state: Any, value: Any, /, *contents: Any) -> None:
        """Put a value into ``state``, holding these arrays."""
        missing(self, "update_from_loval(self, state, value, *contents)", "to update a place")


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
        """What the box holds."""
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
        """What the box holds."""
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
    """A new box. It is empty, and holds whatever is put into it.

    Args:
        type: where given, the box holds a pytree of these types (anything with ``shape`` and
            ``dtype``, or types) and no other: zeros, to begin with.
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
    """What a box holds: a pytree."""
    held = _held(box, "box_get")
    return tree_unflatten(held.tree, get_p.bind(box, held=held))


def box_set(box: Any, value: Any) -> None:
    """Put a pytree of arrays and high values into a box.

    Raises:
        TypeError: a leaf is no value, or the box is of a fixed type, not this one; names both.
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
