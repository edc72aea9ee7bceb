"""Operations that find axes by name: elementwise ones, reductions, contractions, loops."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import dovetail.numpy as dnp
import dovetail_tree.util as tree
from dovetail import lax
from dovetail.hijax import aval_method
from dovetail_core import callable_name, typeof

from .arrays import (
    Named,
    NamedType,
    attach_p,
    detach_p,
    is_named,
    named,
    names_of,
    refuse,
    type_of,
    values,
)


def _sizes(what: str, *xs: Any) -> dict[str, int]:
    """The lengths of all axes of named arrays, in order of their first use.

    Raises:
        AxisError: an axis has two lengths, or none has a name; names both types.
    """
    found: dict[str, int] = {}
    first: dict[str, Any] = {}
    for x in xs:
        aval: Any = typeof(x)
        if not isinstance(aval, NamedType):
            if aval.shape != ():
                refuse(f"{what}: an array of type {aval.str_short()} has no names for its axes",
                       "Give them with named(x, ...), or pass a number.")  # fmt: skip
            continue
        for name, size in zip(aval.names, aval.aval.shape):
            if name is None:
                refuse(f"{what}: an axis of {aval.str_short()} has no name",
                       "Name it: rename(x, name), or by out_axes of its vmap.")  # fmt: skip
            if found.setdefault(name, size) != size:
                other = first[name].str_short()
                refuse(f"{what}: axis {name!r} has length {found[name]} in {other} and {size} in "
                       f"{aval.str_short()}", "Rename or slice one of them.")  # fmt: skip
            first.setdefault(name, aval)
    return found


def _aligned(x: Any, names: list[str]) -> Any:
    """The array of ``x`` with its axes in the order of ``names``, of length 1 where it has none."""
    if not is_named(x):
        return x
    own = names_of(x)
    array = values(x, *[n for n in names if n in own])
    return dnp.expand_dims(array, [i for i, n in enumerate(names) if n not in own])


def apply(f: Callable[..., Any], *xs: Any) -> Any:
    """An elementwise function of arrays, on named ones and numbers: axes are matched by name."""
    names = list(_sizes(callable_name(f), *xs))
    array = f(*[_aligned(x, names) for x in xs])
    return named(array, *names) if any(map(is_named, xs)) else array


def reduce(f: Callable[..., Any], x: Any, *names: str) -> Any:
    """A reduction, ``f(array, axis=...)``, over the axes of these names. Over all, without any: an
    ordinary number.

    Raises:
        AxisError: ``x`` has no such axis.
    """
    own = list(_sizes(callable_name(f), x))
    array = values(x, *own)
    if not names:
        return f(array)
    axes = tuple(type_of(x).position(n) for n in names)
    return named(f(array, axis=axes), *[n for n in own if n not in names])


def dot(x: Any, y: Any, *names: str) -> Any:
    """The sum over the axes of these names of the product; other shared axes are matched.

    Raises:
        AxisError: one of them lacks such an axis, or lengths differ.
    """
    every = _sizes("dot", x, y)
    at = [{n: type_of(v).position(n) for n in (*names, *names_of(v))} for v in (x, y)]
    batch = [n for n in every if n in at[0] and n in at[1] and n not in names]
    (left, right), (left_batch, right_batch) = [
        [[a[n] for n in some] for a in at] for some in (names, batch)
    ]
    numbers = ((left, right), (left_batch, right_batch))
    array = lax.dot_general(values(x, *names_of(x)), values(y, *names_of(y)), numbers)
    rest = [n for v in (x, y) for n in names_of(v) if n not in names and n not in batch]
    return named(array, *batch, *rest)


def rename(x: Any, *first: str, **names: str) -> Any:
    """``x`` with other names, ``rename(x, old="new")``; ``first`` are names for axes without one.

    Raises:
        AxisError: there is no axis to rename, or two would have one name.
    """
    aval, unnamed = type_of(x), iter(first)
    for old in names:
        aval.position(old)
    new = tuple(next(unnamed, None) if n is None else names.get(n, n) for n in aval.names)
    if len(set(new)) != len(new) or next(unnamed, None) is not None:
        refuse(f"rename: {aval.str_short()} cannot have the axes {new}", "Give each name once.")
    return attach_p.bind(detach_p.bind(x), names=new)


def index(x: Any, **where: Any) -> Any:
    """``index(x, time=0, feature=slice(2))``: an integer or slice for each name.

    Raises:
        AxisError: there is no such axis.
    """
    own = list(_sizes("index", x))
    at: list[Any] = [slice(None)] * len(own)
    for name, place in where.items():
        at[type_of(x).position(name)] = place
    kept = [n for n, place in zip(own, at) if isinstance(place, slice)]
    return named(values(x, *own)[tuple(at)], *kept)


def scan(f: Callable[..., Any], init: Any, xs: Any, axis: str) -> tuple[Any, Any]:
    """``lax.scan`` over the axis of this name of the named arrays in ``xs``: ``f(carry, x)`` sees
    them without it; the second result has it in front. A carry keeps the order of its axes.

    Raises:
        AxisError: one of ``xs`` has no such axis.
    """
    leaves, treedef = tree.tree_flatten(xs)
    rest = [[n for n in _sizes("scan", x) if n != axis] for x in leaves]
    arrays = [_leading(x, axis, r) for x, r in zip(leaves, rest)]
    made: list[Any] = []

    def body(carry: Any, slices: Any) -> Any:
        x = tree.tree_unflatten(treedef, [named(s, *r) for s, r in zip(slices, rest)])
        new, y = f(carry, x)
        outs, out_tree = tree.tree_flatten(y)
        made[:] = [out_tree, [names_of(v) for v in outs]]
        arrays = [values(v, *names_of(v)) if is_named(v) else v for v in outs]
        return tree.tree_map(_like, new, carry), arrays

    carry, stacked = lax.scan(body, init, arrays)
    ys = [named(v, axis, *n) if n or v.ndim == 1 else v for v, n in zip(stacked, made[1])]
    return carry, tree.tree_unflatten(made[0], ys)


def _leading(x: Any, axis: str, rest: list[str]) -> Any:
    """The array of ``x`` with ``axis`` in front."""
    type_of(x).position(axis)
    return values(x, axis, *rest)


def _like(x: Any, old: Any) -> Any:
    """``x`` with its axes in the order of ``old``, if both have the same."""
    order = names_of(old)
    same = is_named(x) and is_named(old) and set(names_of(x)) == set(order)
    return attach_p.bind(values(x, *order), names=order) if same else x


def _operator(name: str, f: Callable[..., Any]) -> None:
    """An operator of named arrays, and of traced ones, whose types have it."""
    setattr(Named, f"__{name}__", lambda *xs: apply(f, *xs))
    setattr(NamedType, f"_{name}", aval_method(lambda *xs: apply(f, *xs)))


def _reflected(f: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    flipped = lambda x, y: f(y, x)  # noqa: E731
    flipped.__name__ = callable_name(f)
    return flipped


for _f in (operator.add, operator.sub, operator.mul, operator.truediv, operator.pow):
    _operator(_f.__name__, _f)
    _operator(f"r{_f.__name__}", _reflected(_f))
for _f in (operator.neg, operator.lt, operator.le, operator.gt, operator.ge):
    _operator(_f.__name__, _f)
for _f in (dnp.sum, dnp.mean, dnp.max, dnp.min):
    _method = lambda x, *names, f=_f: reduce(f, x, *names)  # noqa: E731
    setattr(Named, callable_name(_f), _method)
    setattr(NamedType, callable_name(_f), aval_method(_method))
