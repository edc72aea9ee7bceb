"""Groups of operations that XLA schedules together: calls with metadata."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from dovetail_base.wrapping import wraps
from dovetail_core import here, typeof
from dovetail_jit import split_arguments, trace_function
from dovetail_tree.util import tree_unflatten

from .primitives import xla_metadata_call_p
from .xla_metadata import text_of

__all__ = ["scheduling_group", "xla_metadata_call", "xla_metadata_call_p"]


def scheduling_group(name: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorator: the operations of a function are one group, ``name``, for XLA's scheduler."""
    return partial(xla_metadata_call, scheduling_group=name)


def xla_metadata_call(f: Callable[..., Any] | None = None, **meta: Any) -> Callable[..., Any]:
    """``f`` as one call that has attributes XLA sees (``mhlo.frontend_attributes``).

    Its derivatives, mapped forms and parts are such calls again.

    Args:
        f: a function of pytrees of arrays; without it, this is a decorator.
        meta: the attributes: strings, or what is written as one.

    Raises:
        TypeError: ``f`` cannot be called, or an attribute cannot be hashed.
    """
    if f is None:
        return partial(xla_metadata_call, **meta)
    if not callable(f):
        raise TypeError(
            f"xla_metadata_call{here()}: f is of type {type(f).__name__}; give a function, and "
            "attributes by name."
        )
    attributes = tuple(sorted((k, text_of(k, v)) for k, v in meta.items()))
    function = f

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        taken = split_arguments(function, args, kwargs)
        avals = [typeof(x) for x in taken.leaves]
        traced = trace_function(function, taken, avals)
        outs = xla_metadata_call_p.bind(
            *traced.consts, *taken.leaves, program=traced.call, attributes=attributes
        )
        return tree_unflatten(traced.out_tree, outs)

    return call
