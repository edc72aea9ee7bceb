"""Threading errors through a program: the state is which check failed first, and with which values.

A first pass over the program, which computes nothing, lists its checks: the state has a fixed type.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_core import Eqn, Interpreter, here, program_of, stage
from dovetail_tree.util import tree_unflatten

from .automatic import KINDS, Finding
from .check import check_p
from .error import Check, Error


class _Finder(Interpreter):
    """Lists the checks of a program, by equation, and the types of their values."""

    def __init__(self, kinds: Sequence[str]) -> None:
        super().__init__()
        self.kinds = kinds
        self.checks: list[Check] = []
        self.types: list[Any] = []
        self.numbers: dict[tuple[int, str], int] = {}
        self.eqns: list[Eqn] = []  # kept, so that an identity stays one equation's

    def visit(self, eqn: Eqn, args: list[Any]) -> Any:
        place = here()
        if eqn.primitive is check_p:
            names = eqn.params["names"]
            self._add(eqn, "", Check(eqn.params["message"], names, place), eqn.invars[1:])
        elif eqn.primitive.regions is None:
            for kind in self.kinds:
                if KINDS[kind].applies(eqn):
                    message = KINDS[kind].message.format(eqn.primitive.name)
                    self._add(eqn, kind, Check(message, (), place), [])
        return NotImplemented

    def _add(self, eqn: Eqn, kind: str, check: Check, values: Sequence[Any]) -> None:
        if (id(eqn), kind) not in self.numbers:
            self.checks.append(check)
            self.types += [v.aval.strong() for v in values]
            self.numbers[id(eqn), kind] = len(self.checks)
            self.eqns.append(eqn)


class _Checker(Interpreter):
    """Keeps the first failure of the checks that were found."""

    keeps_results = True

    def __init__(self, found: _Finder) -> None:
        empty = [dnp.zeros(a.shape, a.dtype) for a in found.types]
        super().__init__([dnp.zeros((), dnp.int32), *empty])
        self.found = found

    def visit(self, eqn: Eqn, args: list[Any]) -> Any:
        numbers = self.found.numbers
        if eqn.primitive is check_p:
            self._note(numbers[id(eqn), ""], dnp.logical_not(dnp.all(args[0])), args[1:])
            return []
        kinds = [kind for kind in self.found.kinds if (id(eqn), kind) in numbers]
        if not kinds:
            return NotImplemented
        out = eqn.primitive.bind(*args, **eqn.params)
        outs = out if eqn.primitive.multiple_results else [out]
        for kind in kinds:
            failed = KINDS[kind].fails(Finding(eqn, args, outs))
            self._note(numbers[id(eqn), kind], failed, [])
        return outs

    def _note(self, number: int, failed: Any, values: Sequence[Any]) -> None:
        code, *kept = self.state
        is_first = dnp.logical_and(code == 0, failed)
        first = sum(len(c.names) for c in self.found.checks[: number - 1])
        for i, x in enumerate(values, first):
            new = lax.convert_element_type(x, kept[i].dtype)
            kept[i] = dnp.where(is_first, lax.stop_gradient(new), kept[i])
        self.state = [dnp.where(is_first, dnp.int32(number), code), *kept]


def checked(
    f: Callable[..., Any], *, automatic: Sequence[str] = ()
) -> Callable[..., tuple[Error, Any]]:
    """``f`` with what failed: ``checked(f)(*args)`` returns an error and ``f(*args)``.

    Args:
        f: a function of pytrees of arrays to one of them; close over others.
        automatic: what is checked in all operations beside what ``check`` says: ``"nan"`` (results
            that are NaN), ``"division"`` (by zero), ``"index"`` (out of bounds).

    Raises:
        ValueError: ``automatic`` has another word.
    """
    for kind in automatic:
        if kind not in KINDS:
            raise ValueError(f"checked: automatic={kind!r} is none of {', '.join(KINDS)}")

    @wraps(f)
    def checking(*args: Any, **kwargs: Any) -> tuple[Error, Any]:
        program, leaves, structure = program_of(f, *args, **kwargs)
        finder = _Finder(automatic)
        stage(lambda *xs: finder.run(program, xs), program.in_avals)
        checker = _Checker(finder)
        outs = checker.run(program, leaves)
        code, *values = checker.state
        error = Error(code, values, tuple(finder.checks))
        return error, tree_unflatten(structure, outs)

    return checking
