"""Views, by which part of a reference is read and written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dovetail_core import here, typeof
from dovetail_tree.util import register_pytree_node

from .indexing import encode, indexed_type_of, spelled_out


class At:
    """The value of ``ref.at``; indexing it gives a view."""

    __slots__ = ("_target",)

    def __init__(self, target: Any) -> None:
        self._target = target

    def __getitem__(self, index: Any) -> TransformedRef:
        if isinstance(self._target, TransformedRef):
            return TransformedRef(self._target.ref, [*self._target.indices, index])
        return TransformedRef(self._target, [index])


class TransformedRef:
    """A view of part of a reference: ``view[...]`` reads it, ``view[index] = value`` writes to it.

    A view is a pytree of the reference and of the arrays in its indices.

    Raises:
        IndexError, TypeError: of the index.
    """

    __slots__ = ("ref", "indices", "_ref_type")

    def __init__(self, ref: Any, indices: Sequence[Any]) -> None:
        self.ref = ref
        self._ref_type = typeof(ref)
        self.indices = list(indices)
        self._type()
        self.indices = [spelled_out(index) for index in indices]

    def _type(self) -> Any:
        aval: Any = typeof(self.ref)
        chain, operands = encode(aval.inner_aval, self.indices)
        return indexed_type_of(aval.inner_aval, chain, operands)

    @property
    def shape(self) -> tuple[int, ...]:
        return self._type().shape

    @property
    def dtype(self) -> Any:
        return self._type().dtype

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def __repr__(self) -> str:
        return f"TransformedRef({self.ref!r}, {', '.join(map(repr, self.indices))})"


_DYNAMIC = object()


def _is_static(x: Any) -> bool:
    return x is None or x is Ellipsis or isinstance(x, (bool, int, slice, np.generic))


def _flatten(view: TransformedRef) -> tuple[Any, Any]:
    children: list[Any] = [view.ref]
    static: list[Any] = []
    for index in view.indices:
        items = index if isinstance(index, tuple) else (index,)
        encoded: list[Any] = []
        for x in items:
            if isinstance(x, slice):
                encoded.append(("slice", x.start, x.stop, x.step))
            elif _is_static(x):
                encoded.append(("static", x))
            else:
                encoded.append(("child", len(children)))
                children.append(x)
        static.append(tuple(encoded))
    return children, (view._ref_type, *static)


def _unflatten(static: Any, children: Sequence[Any]) -> TransformedRef:
    view = object.__new__(TransformedRef)
    view._ref_type, *chain = static
    view.ref = children[0]
    _check_ref_type(view)
    view.indices = [tuple([_item(x, children) for x in items]) for items in chain]
    return view


def _check_ref_type(view: TransformedRef) -> None:
    """Raise TypeError if the reference of a view was replaced by its slice, which is not a slice of
    the view."""
    result: Any = getattr(view.ref, "aval", None)
    if getattr(result, "is_mutable", False) and result is not view._ref_type:
        raise TypeError(
            f"a view of part of {view._ref_type.str_short()} is mapped or sliced{here()}, so that "
            f"it would show parts of {result.str_short()}: a view has other axes. Map over "
            "the reference itself and make views of its slices, or over the contents, view[...]."
        )


def _item(item: Any, children: Sequence[Any]) -> Any:
    kind, *rest = item
    if kind == "slice":
        return slice(*rest)
    return rest[0] if kind == "static" else children[rest[0]]


register_pytree_node(TransformedRef, _flatten, _unflatten)
