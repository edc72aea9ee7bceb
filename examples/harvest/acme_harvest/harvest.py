"""What goes through a program for the sake of sown values: three interpreters."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from dovetail_core import Eqn, Interpreter, algebra, here, typeof

from .sow import sow_p


class _Reaper(Interpreter):
    """Collects what is sown, by name."""

    keeps_results = True

    def visit(self, eqn: Eqn, args: list[Any]) -> Any:
        if eqn.primitive is not sow_p:
            return NotImplemented
        self.collect(eqn.params["name"], args[0])
        return args


class _Planter(Interpreter):
    """Puts what is supplied in the place of what is sown; what is left stays sown."""

    def visit(self, eqn: Eqn, args: list[Any]) -> Any:
        if eqn.primitive is not sow_p or eqn.params["name"] not in self.supplied:
            return NotImplemented
        name, wanted = eqn.params["name"], eqn.outvars[0].aval
        value = self.supply(name)
        found = typeof(value)
        if found.strong() != wanted.strong():
            raise TypeError(
                f"plant: {name!r} is {found.str_short()}, and sown{here()} is "
                f"{wanted.str_short()}. Plant values of the type that reap returns."
            )
        return [value if found == wanted else algebra().convert(value, wanted)]


class _Renamer(Interpreter):
    """Puts a prefix before the names of what is sown."""

    def __init__(self, scope: str) -> None:
        super().__init__()
        self.scope = scope

    def visit(self, eqn: Eqn, args: list[Any]) -> Any:
        if eqn.primitive is not sow_p:
            return NotImplemented
        return [sow_p.bind(*args, name=f"{self.scope}/{eqn.params['name']}")]


def reap(f: Callable[..., Any]) -> Callable[..., tuple[Any, dict[str, Any]]]:
    """``f`` with what it sows: ``reap(f)(*args)`` returns ``f(*args)`` and a dict by name.

    What is sown in a loop of known length is stacked along a new leading axis; in a ``while_loop``
    it is what was sown last; what is sown in one branch of a ``cond`` is zero where another ran.
    Arguments and results are pytrees of arrays; close over others.

    Raises:
        ValueError: two values are sown under one name.
    """

    @wraps(f)
    def reaped(*args: Any, **kwargs: Any) -> tuple[Any, dict[str, Any]]:
        reaper = _Reaper()
        return reaper.call(f, *args, **kwargs), reaper.collected

    return reaped


def plant(f: Callable[..., Any]) -> Callable[..., Any]:
    """``f`` with other values where it sows: ``plant(f)(values, *args)``, a dict by name.

    ``plant(f)(reap(f)(*args)[1], *args)`` is ``f(*args)``: each iteration of a loop of known length
    gets a slice of the leading axis. In a ``while_loop`` all iterations get the same value.

    Raises:
        KeyError: nothing is sown under a name.
        TypeError: a value is not of the type of what is sown.
        ValueError: the leading axis of a value is not as long as the loop.
    """

    @wraps(f)
    def planted(values: dict[str, Any], *args: Any, **kwargs: Any) -> Any:
        planter = _Planter()
        planter.supplied = dict(values)
        out = planter.call(f, *args, **kwargs)
        for name in values:
            if name not in planter.used:
                raise KeyError(f"plant: nothing is sown as {name!r}{here()}")
        return out

    return planted


def nest(f: Callable[..., Any], *, scope: str) -> Callable[..., Any]:
    """``f``, with ``scope`` and a slash before the names of all that it sows."""

    @wraps(f)
    def nested(*args: Any, **kwargs: Any) -> Any:
        return _Renamer(scope).call(f, *args, **kwargs)

    return nested
