"""From a function and its arguments to the program of a checkpointed call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dovetail_base.errors import refuse_mutable_result
from dovetail_base.keys import exact_key, keeps_alive
from dovetail_core import ClosedJaxpr, callable_name, consts_to_inputs, stage, trace_cache, typeof
from dovetail_tree.util import (
    broadcast_prefix,
    keystr,
    tree_flatten,
    tree_flatten_with_path,
    tree_leaves,
    tree_unflatten,
)


def barrier_flags(given: Any, num_consts: int, args: Any, kwargs: Any, fun: Any) -> Any:
    """``prevent_cse`` for each operand; True for values that the function closes over."""
    if isinstance(given, bool):
        return given
    try:
        flags = broadcast_prefix(tuple(given), tuple(args), is_leaf=lambda x: x is None)
    except (TypeError, ValueError) as e:
        raise ValueError(
            f"checkpoint of {name_of(fun)}: prevent_cse must be a bool or a tuple with an entry "
            f"for each positional argument. {e}"
        ) from None
    none = [x is None for x in tree_leaves(tuple(args), is_leaf=lambda x: x is None)]
    flags = [bool(f) for f, skip in zip(flags, none) if not skip]
    return (*(True,) * num_consts, *flags, *(True,) * len(tree_leaves(kwargs)))


def trace(
    call: Callable[..., Any], in_tree: Any, avals: Sequence[Any], fun: Any, given: Sequence[Any]
) -> tuple[ClosedJaxpr, list[Any], Any]:
    """The program of ``call``, the values that it closes over (leading operands), and the structure
    of its result.

    Args:
        call: ``fun``, with its static arguments.
        given: the static arguments, each with its position or keyword.

    Raises:
        TypeError: a result is not an array, or is mutable.
    """
    statics = _static_key(given)
    key = "remat", in_tree, tuple(avals), statics
    cache = trace_cache()
    known = None if statics is None else cache.get(fun, key)
    if known is not None:
        return known
    out_tree: list[Any] = []

    def flat(*xs: Any) -> list[Any]:
        results, tree = tree_flatten(call(*tree_unflatten(in_tree, xs)))
        out_tree[:] = [tree]
        for x in results:
            aval = _type(
                x, f"checkpoint: {name_of(fun)} returned a value that is not an array ({tree})"
            )
            if aval.is_mutable:
                refuse_mutable_result(aval, name_of(fun))
        return results

    with cache.tracing():
        jaxpr, consts = stage(flat, avals, name_of(fun))
        result = consts_to_inputs(jaxpr), consts, out_tree[0]
        if statics is not None:
            cache.put(fun, key, consts, jaxpr, result)
    return result


def _static_key(given: Sequence[Any]) -> Any:
    """Static arguments as a key; None if they are not hashable, or would keep functions alive."""
    result = exact_key(tuple(map(tuple, given)))
    try:
        hash(result)
    except TypeError:
        return None
    return None if keeps_alive(tuple(map(tuple, given))) else result


def name_of(fun: Any) -> str:
    """A function's name for messages and programs."""
    return callable_name(fun)


def positions(numbers: Sequence[int], count: int, fun: Any) -> set[int]:
    """The positions that ``static_argnums`` names in a call with ``count`` arguments."""
    for n in numbers:
        if not -count <= n < count:
            raise ValueError(
                f"checkpoint of {name_of(fun)}: static_argnums names argument {n}, but it was "
                f"called with {count} positional argument{'s' if count != 1 else ''}"
            )
    return {n % count for n in numbers}


def types(args: Any, kwargs: Any, leaves: Sequence[Any], fun: Any) -> list[Any]:
    """The types of the leaves.

    Raises:
        TypeError: one is not an array; names its path.
    """
    try:
        return [typeof(x) for x in leaves]
    except TypeError:
        for what, tree in (("args", args), ("kwargs", kwargs)):
            for path, x in tree_flatten_with_path(tree)[0]:
                _type(x, f"checkpoint of {name_of(fun)}: {what}{keystr(path)}")
        raise


def _type(x: Any, what: str) -> Any:
    try:
        return typeof(x)
    except TypeError as e:
        raise type(e)(f"{what}: {e}") from None
