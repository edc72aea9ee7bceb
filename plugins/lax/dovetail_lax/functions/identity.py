"""Functions that return their operands: barriers, and the end of differentiation."""

from __future__ import annotations

from typing import Any, TypeVar

from dovetail_core import Tracer
from dovetail_core.tree.util import tree_flatten, tree_map, tree_unflatten

from ..primitives.values import optimization_barrier_p, stop_gradient_p
from ._args import check

T = TypeVar("T")


def stop_gradient(x: T) -> T:
    """``x`` (an array or a pytree of arrays), as a constant to differentiation."""
    if isinstance(x, Tracer):
        return stop_gradient_p.bind(x)
    return tree_map(_stop, x)


def _stop(x: Any) -> Any:
    if isinstance(x, Tracer):
        return stop_gradient_p.bind(x)
    check("stop_gradient", x)
    return x


def optimization_barrier(operand: T) -> T:
    """``operand`` (a pytree of arrays); compilers move no operation across."""
    leaves, tree = tree_flatten(operand)
    for x in leaves:
        check("optimization_barrier", x)
    return tree_unflatten(tree, optimization_barrier_p.bind(*leaves) if leaves else [])
