"""Primitives whose parameters, or operands, another interface says differently.

``bind`` takes both forms. Traces, rules and programs know the primitive's own alone; who hands an
application to code for the other interface asks :func:`other_form`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .primitive import Primitive, get_trace

Form = tuple[tuple[Any, ...], dict[str, Any]]
"""Operands and parameters."""
Convert = Callable[[tuple[Any, ...], dict[str, Any]], Form]

_converters: dict[Primitive, tuple[Convert, Convert]] = {}


class _OfTwoForms(Primitive):
    """The class that such primitives get, so that ``bind`` of others does not ask."""

    __slots__ = ()

    def bind(self, *args: Any, **params: Any) -> Any:
        if params:
            args, params = _converters[self][0](args, params)
        return get_trace().process(self, args, params)


def accept_form(primitive: Primitive, read: Convert, write: Convert) -> None:
    """Have ``bind`` take another form of an application.

    Args:
        read: operands and parameters in any of both forms as the primitive's own.
        write: its own as those of the other form.
    """
    _converters[primitive] = read, write
    primitive.__class__ = _OfTwoForms


def accept_parameters(primitive: Primitive, **defaults: Any) -> None:
    """Have ``bind`` take parameters that say nothing here: their defaults, which are dropped.

    Binding raises TypeError where such a parameter has another value.
    """

    def read(args: tuple[Any, ...], params: dict[str, Any]) -> Form:
        for name, default in defaults.items():
            if name in params and params.pop(name) != default:
                raise TypeError(
                    f"{primitive.name} takes no {name} but {default!r}, which has no effect here. "
                    "Leave it out."
                )
        return args, params

    accept_form(primitive, read, lambda args, params: (args, {**params, **defaults}))


def other_form(primitive: Primitive, args: tuple[Any, ...], params: dict[str, Any]) -> Form:
    """An application as the other interface says it, if there is one."""
    found = _converters.get(primitive)
    return (args, params) if found is None else found[1](args, params)
