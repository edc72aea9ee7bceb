"""Decompositions whose results would be more or less weakly typed than type rules say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from dovetail_core import Primitive, typeof

from .values import convert_element_type_p

F = TypeVar("F", bound=Callable[..., Any])


def def_typed_decomposition(primitive: Primitive) -> Callable[[F], F]:
    """Decorator: ``def_decomposition`` of a function, with its results' weak types set right."""

    def define(f: F) -> F:
        def decomposition(*args: Any, **params: Any) -> Any:
            out = f(*args, **params)
            wanted = primitive.infer(tuple([typeof(x) for x in args]), params).avals
            if primitive.multiple_results:
                return [as_typed(x, a) for x, a in zip(out, wanted)]
            return as_typed(out, wanted[0])

        primitive.def_decomposition(decomposition)
        return f

    return define


def as_typed(x: Any, aval: Any) -> Any:
    """``x``, of the type ``aval`` but for weak typing, as one of exactly that type."""
    if typeof(x) == aval:
        return x
    return convert_element_type_p.bind(x, new_dtype=aval.dtype, weak_type=aval.weak_type)
