"""Attributes and methods that values of a high type have while they are traced."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class aval_method:  # lower case: used as a decorator
    """A function on a type's class that traced values of the type have as a method.

    Operators are looked up with one underscore: ``_add`` for ``x + y``, ``_getitem`` for ``x[i]``.
    ``class T(HiType): double = aval_method(lambda x: ...)`` makes ``x.double()`` work for tracers.
    """

    def __init__(self, fun: Callable[..., Any]) -> None:
        self.fun = fun

    def __get__(self, tracer: Any, owner: type | None = None) -> Any:
        return self if tracer is None else self.fun.__get__(tracer)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.fun(*args, **kwargs)


class aval_property:  # lower case: used as a decorator
    """A function on a type's class whose value traced values of the type have as an attribute."""

    def __init__(self, fget: Callable[[Any], Any]) -> None:
        self.fget = fget

    def __get__(self, tracer: Any, owner: type | None = None) -> Any:
        return self if tracer is None else self.fget(tracer)
