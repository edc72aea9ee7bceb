"""``platform_dependent``: code for the platform that a program is compiled for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dovetail_core import EVAL, get_trace
from dovetail_core.rules.at_rest import UNKNOWN, call_at_rest
from dovetail_tree.util import tree_flatten, tree_unflatten

from ...primitives.platforms import platform_dependent_p
from ._staging import check_function, close_together, operand_types, place, stage_function
from .branches import agree

_FAMILIES = {"gpu": ("cuda", "rocm")}
"""Names that stand for several platforms."""


def platform_dependent(
    *args: Any, default: Callable[..., Any] | None = None, **per_platform: Callable[..., Any]
) -> Any:
    """Apply the function that is meant for the platform where the program will run.

    Which one that is becomes known when the program is lowered, so a traced function can be
    lowered for several platforms; the others are traced, but never lowered.

    Args:
        args: pytrees of arrays.
        default: for all platforms that are not named.
        per_platform: functions by platform (``cpu=``, ``cuda=``, ``rocm=``, ``tpu=``, ``gpu=`` for
            either kind, or another backend's name). All must return one structure of arrays of
            equal types.

    Raises:
        ValueError: there is no function at all. TypeError: functions return different types; names
            the place in the result. NotImplementedError (when it is lowered): there is none for
            the platform.
    """
    functions = [*per_platform.values(), *([] if default is None else [default])]
    if not functions:
        raise ValueError(
            f"platform_dependent needs a function{place()}: give one for a platform (cpu=...), or "
            "default=."
        )
    for name, f in per_platform.items():
        check_function(f, f"platform_dependent: {name}")
    if default is not None:
        check_function(default, "platform_dependent: default")
    if get_trace() is EVAL:
        statics = (*per_platform,), default is not None
        result = call_at_rest("platform_dependent", _again, functions, statics, *args)
        if result is not UNKNOWN:
            return result
    leaves, in_tree = tree_flatten(args)
    avals = operand_types(leaves, in_tree, "platform_dependent: operands")
    staged = agree(
        "platform_dependent", functions, [stage_function(f, in_tree, avals) for f in functions]
    )
    programs, consts = close_together(staged)
    named: list[Any] = [_FAMILIES.get(name, (name,)) for name in per_platform]
    outs = platform_dependent_p.bind(
        *consts,
        *leaves,
        branches=tuple(programs),
        platforms=tuple(named if default is None else [*named, None]),
    )
    return tree_unflatten(staged[0].out_tree, outs)


def _again(functions: Sequence[Any], statics: tuple[Any, ...], *args: Any) -> Any:
    names, has_default = statics
    default = functions[-1] if has_default else None
    return platform_dependent(*args, default=default, **dict(zip(names, functions)))
