"""Primitives with further parameters of another interface, which have no meaning here.

``bind`` takes and drops them. Traces, rules and programs have a primitive's own parameters alone;
code that hands an application to code for the other interface calls :func:`with_parameters`. The
equations of primitives given to :func:`show_parameters` have them when they are read by name.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dovetail_core import Primitive, get_trace

_further: dict[Primitive, dict[str, Any]] = {}


class Derived:
    """A parameter whose value follows from the primitive's own: ``value(params)``."""

    __slots__ = ("value",)

    def __init__(self, value: Callable[[dict[str, Any]], Any]) -> None:
        self.value = value


class Parameters(dict[str, Any]):
    """A primitive's own parameters, in which further ones can be read by name."""

    __slots__ = ("_primitive",)

    def __init__(self, primitive: Primitive, params: dict[str, Any]) -> None:
        super().__init__(params)
        self._primitive = primitive

    def __missing__(self, name: str) -> Any:
        return _value(_further[self._primitive][name], self)

    def __contains__(self, name: object) -> bool:
        return super().__contains__(name) or name in _further[self._primitive]

    def get(self, name: str, default: Any = None) -> Any:
        try:
            return self[name]
        except KeyError:
            return default


class _Lenient(Primitive):
    """The class of primitives whose ``bind`` drops further parameters; others need not look."""

    __slots__ = ()

    def bind(self, *args: Any, **params: Any) -> Any:
        if params and not _further[self].keys().isdisjoint(params):
            params = _own(self, params)
        return get_trace().process(self, args, params)


class _Showing(_Lenient):
    """The class of primitives whose equations show further parameters."""

    __slots__ = ()

    def bind(self, *args: Any, **params: Any) -> Any:
        if not _further[self].keys().isdisjoint(params):
            params = _own(self, params)
        return get_trace().process(self, args, Parameters(self, params))


def accept_parameters(primitive: Primitive, **defaults: Any) -> None:
    """Have ``bind`` drop parameters that have these values, or are :class:`Derived`.

    With other values they are the primitive's own, or unknown parameters.
    """
    _further[primitive] = defaults
    primitive.__class__ = _Lenient


def show_parameters(primitive: Primitive, **defaults: Any) -> None:
    """Do as :func:`accept_parameters`, and let ``eqn.params[name]`` of its equations read them.

    For primitives with few applications in a program: it costs each application a little.
    """
    _further[primitive] = defaults
    primitive.__class__ = _Showing


def with_parameters(primitive: Primitive, params: dict[str, Any]) -> dict[str, Any]:
    """The parameters of an application, with those of the other interface."""
    further = _further.get(primitive, {})
    return {**{name: _value(given, params) for name, given in further.items()}, **params}


def _value(given: Any, params: dict[str, Any]) -> Any:
    return given.value(params) if given.__class__ is Derived else given


def _own(primitive: Primitive, params: dict[str, Any]) -> dict[str, Any]:
    defaults = _further[primitive]
    return {
        name: value
        for name, value in params.items()
        if name not in defaults or value != _value(defaults[name], params)
    }
