"""Mutable arguments of derivative functions: differentiated by ``jvp``, passed along by others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_core import is_value, run_under, typeof
from dovetail_core.interpret.lending import lend
from dovetail_core.interpret.mutable import Borrow, LocalValue, check_aliases
from dovetail_core.types.algebra import zeros
from dovetail_tree.util import tree_flatten

from .arguments import check_tangents


def is_mutable(x: Any) -> bool:
    """Whether ``x`` is a mutable value."""
    return is_value(x) and typeof(x).is_mutable


def flat_with_none(tree: Any) -> tuple[list[Any], Any]:
    """Leaves and structure of a tree in which None is a leaf: it stands for no tangent."""
    return tree_flatten(tree, is_leaf=lambda x: x is None)


def tangents_of(primals: Any, tangents: Any, what: str) -> list[Any]:
    """Tangents of primals some of which are mutable, checked.

    The tangent of a mutable value is another one that holds the tangents of what it holds, or None:
    then only undifferentiated values go through it.

    Raises:
        TypeError: structures or types do not match. ValueError: a mutable value is given twice.
    """
    leaves, tree = tree_flatten(primals)
    given, given_tree = flat_with_none(tangents)
    if tree != given_tree:
        raise TypeError(
            f"{what}: primals have the structure {tree}, tangents {given_tree}. Give one tangent "
            "per primal, and None or a mutable value for a mutable one."
        )
    for i, (x, t) in enumerate(zip(leaves, given)):
        if not is_mutable(x):
            check_tangents((x,), (t,), what)
        elif t is not None and typeof(t) != typeof(x).tangent_type():
            raise TypeError(
                f"{what}: the tangent of leaf {i}, {typeof(x).str_short()}, is of type "
                f"{typeof(t).str_short()}, not {typeof(x).tangent_type().str_short()}. Pass that, "
                "or None where only undifferentiated values go through it."
            )
    all_given = [*leaves, *given]
    n = len(leaves)
    names = [f"leaf {i} of the {'primals' if i < n else 'tangents'}" for i in range(n)]
    names += [f"leaf {i} of the tangents" for i in range(n)]
    mutable = [i for i, x in enumerate(all_given) if x is not None and is_mutable(x)]
    check_aliases(what, [all_given[i] for i in mutable], [names[i] for i in mutable])
    return given


def borrow(trace: Any, primal: Any, tangent: Any) -> Any:
    """A mutable primal with its tangent as the function under ``trace`` (a JvpTrace) sees it."""
    aval = typeof(primal)
    held = zip(aval.read(primal), typeof(tangent).read(tangent))
    borrow = Borrow(trace, (primal, tangent), aval, [trace.dual(p, t) for p, t in held])
    trace.borrows.append(borrow)
    return borrow.local


def place_of(trace: Any, local: LocalValue) -> Any:
    """The mutable value for which a local one under ``trace`` (a JvpTrace) stands, made if there is
    none yet; NotImplemented if the local one holds tangents. It holds what that does."""
    duals = [trace.lower(c) for c in local.contents]
    if any(t is not None for _, t in duals) or any(b.local is local for b in trace.borrows):
        return NotImplemented
    return run_under(beneath(trace), lend, trace.lent, local, [p for p, _ in duals])


def beneath(trace: Any) -> Any:
    """The trace that carries out operations on primals."""
    result = trace.parent
    while result.is_reverse:
        result = result.parent
    return result


def give_back(trace: Any) -> None:
    """Write what the function has written to borrowed values back to both originals."""
    for borrow in trace.borrows:
        if borrow.changed:
            primal, tangent = borrow.originals
            duals = [trace.lower(c) for c in borrow.local.contents]
            final: Any = borrow.local.aval
            final.write(primal, [p for p, _ in duals])
            dense = [zeros(typeof(p).tangent_type()) if t is None else t for p, t in duals]
            final.tangent_type().write(tangent, dense)


def plain_leaves(values: Sequence[Any], avals: Sequence[Any]) -> list[tuple[Any, Any]]:
    """Pairs of a value and its type, without mutable ones."""
    return [(x, a) for x, a in zip(values, avals) if not a.is_mutable]
