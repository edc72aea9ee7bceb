"""Primitives that another interface gives further parameters, which say nothing here.

``bind`` takes and drops them. Traces, rules and programs know a primitive's own alone; who hands an
application to code for the other interface asks :func:`with_parameters`.
"""

from __future__ import annotations

from typing import Any

from .primitive import Primitive, get_trace

_further: dict[Primitive, dict[str, Any]] = {}


class _Lenient(Primitive):
    """The class that such primitives get, so that ``bind`` of others does not ask."""

    __slots__ = ()

    def bind(self, *args: Any, **params: Any) -> Any:
        if params and not _further[self].keys().isdisjoint(params):
            params = _own(self, params)
        return get_trace().process(self, args, params)


def accept_parameters(primitive: Primitive, **defaults: Any) -> None:
    """Have ``bind`` drop parameters that have these values.

    With other values they are the primitive's own, or not known to it.
    """
    _further[primitive] = defaults
    primitive.__class__ = _Lenient


def with_parameters(primitive: Primitive, params: dict[str, Any]) -> dict[str, Any]:
    """The parameters of an application as the other interface says them."""
    return {**_further.get(primitive, {}), **params}


def _own(primitive: Primitive, params: dict[str, Any]) -> dict[str, Any]:
    defaults = _further[primitive]
    return {
        name: value
        for name, value in params.items()
        if name not in defaults or value != defaults[name]
    }
