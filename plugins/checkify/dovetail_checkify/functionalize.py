"""``checkify``: a function that also returns the first failure of its checks.

A first pass over the program, which computes nothing, lists its checks; so the error that the
second one threads through it, as the state of an interpretation, has a fixed type. Arrays of equal
types share places in it: only one check fails first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

import dovetail_lax as lax
from dovetail_base.source import not_callable
from dovetail_base.wrapping import update_wrapper
from dovetail_core import (
    AbstractValue,
    ClosedJaxpr,
    Eqn,
    Interpreter,
    RegionInterface,
    ShapedArray,
    algebra,
    current_source,
    is_value,
    jaxpr_as_fun,
    program_of,
    stage,
    typeof,
    zeros_like_aval,
)
from dovetail_tree.util import tree_map, tree_structure, tree_unflatten

from .error import Check, Error
from .errors import ErrorCategory, categories, user_checks
from .primitive import check_p
from .tables import check_nan, check_rules


def checkify(
    f: Callable[..., Any], errors: frozenset[ErrorCategory] = user_checks
) -> Callable[..., tuple[Error, Any]]:
    """``f`` with what failed: ``error, out = checkify(f)(*args, **kwargs)``.

    After a failure the function runs on, with whatever values it has. Ask the error what failed
    (``error.get()``), or raise it (``error.throw()``), outside of compiled code.

    Args:
        f: a function to a pytree of arrays. It gets its arguments as they are, of any type, so that
            it may ask ``if flag:`` of one that is known. Only NumPy's arrays and numbers become
            arrays, whose operations are checked.
        errors: which kinds of errors are checked, those of ``check`` by default. Checks of other
            kinds are left out.

    Raises:
        TypeError: ``f`` cannot be called, or ``errors`` is no set of kinds of errors.
    """
    if not callable(f):
        raise not_callable("f", f)
    wanted = categories(errors)

    def checked(*args: Any, **kwargs: Any) -> tuple[Error, Any]:
        args, kwargs = tree_map(_checkable, (args, kwargs))
        program, _, structure = program_of(partial(f, *args, **kwargs))
        error, outs = run_checked(program, (), wanted)
        return error, tree_unflatten(structure, outs)

    return update_wrapper(checked, f)


def _checkable(x: Any) -> Any:
    """NumPy's values as arrays: what NumPy does is in no program."""
    return algebra().array(x, typeof(x)) if _is_numeric(x) else x


def _is_numeric(x: Any) -> bool:
    return isinstance(x, (np.ndarray, np.generic)) and is_value(x)


def run_checked(
    program: ClosedJaxpr, args: Sequence[Any], errors: frozenset[ErrorCategory]
) -> tuple[Error, list[Any]]:
    """The first failure of a program on ``args``, and its results."""
    check_rules.fill()
    lister = _Lister(errors)
    stage(lambda *xs: lister.run(program, xs), program.in_avals)
    if not lister.found and not lister.left_out:
        return Error(np.False_, np.int32(0), (), ()), jaxpr_as_fun(program)(*args)
    checker = _Checker(lister)
    outs = checker.run(program, args)
    code, *payload = checker.state
    return Error(lax.ne(code, np.int32(0)), code, tuple(lister.checks), tuple(payload)), outs


class _Reported(NamedTuple):
    """A check of a rule, and what it said."""

    check: Check
    failed: Any
    payload: Sequence[Any]


class _Reporter:
    """Collects what a rule reports (see ``tables.Report``)."""

    def __init__(self, errors: frozenset[ErrorCategory]) -> None:
        self.errors = errors
        self.all: list[_Reported] = []

    def wants(self, category: ErrorCategory) -> bool:
        return category in self.errors

    def __call__(self, category: ErrorCategory, failed: Any, message: str, *payload: Any) -> None:
        if category in self.errors:
            structure = tree_structure((payload, {}))
            slots = tuple(range(len(payload)))
            said = Check(category, message, structure, slots, current_source())
            self.all.append(_Reported(said, failed, payload))


def _rule_of(eqn: Eqn) -> Callable[..., None] | None:
    primitive = eqn.primitive
    rule = check_rules.rules.get(primitive)
    if rule is not None or eqn.effects:
        return rule
    if primitive.regions is None:
        return check_rules.miss(primitive)
    # Where iterations have no order none fails first: only what comes out is checked.
    return check_nan(primitive.name) if _is_whole(eqn) else None


def _is_whole(eqn: Eqn) -> bool:
    """Whether an equation with sub-programs is not entered."""
    regions = eqn.primitive.regions
    return regions is not None and not eqn.effects and regions(eqn.params).runs == "in any order"


def _applied(eqn: Eqn, args: Sequence[Any]) -> list[Any]:
    out = eqn.primitive.bind(*args, **eqn.params)
    return list(out) if eqn.primitive.multiple_results else [out]


class _Places(NamedTuple):
    """Where an equation's checks are in the error: the first number, and places of its arrays."""

    first: int
    places: list[list[int]]


class _Lister(Interpreter):
    """Lists the checks of a program by equation, and the types of what they are about."""

    def __init__(self, errors: frozenset[ErrorCategory]) -> None:
        super().__init__()
        self.errors = errors
        self.checks: list[Check] = []
        self.types: list[AbstractValue] = []
        self.found: dict[int, _Places] = {}
        self.eqns: list[Eqn] = []  # kept, so that an identity stays one equation's
        self.left_out: list[Eqn] = []  # nobody asked for these checks
        self.devices: list[int] = []  # by depth: where the error says which device of several it is
        self.within: tuple[int, ...] = ()  # those of them that checks are in now

    def enter(self, interface: RegionInterface, n: int) -> None:
        if interface.axes:
            depth = len(self.within)
            if depth == len(self.devices):
                self.devices.append(len(self.types))
                self.types.append(ShapedArray((), np.dtype(np.int32)))
            self.within = (*self.within, self.devices[depth])

    def visit(self, eqn: Eqn, args: list[Any]) -> Any:
        if id(eqn) in self.found:  # a program is called twice
            return _applied(eqn, args) if _is_whole(eqn) else NotImplemented
        if eqn.primitive is check_p:
            checks: tuple[Check, ...] = eqn.params["checks"]
            if any(c.category in self.errors for c in checks):
                types = [v.aval for v in eqn.invars[2:]]
                self._add(eqn, [types], [checks])
            else:
                self.left_out.append(eqn)
        elif said := self._said(eqn):
            self._add(eqn, [types for _, types in said], [(check,) for check, _ in said])
        return _applied(eqn, args) if _is_whole(eqn) else NotImplemented

    def _said(self, eqn: Eqn) -> list[tuple[Check, list[AbstractValue]]]:
        """The checks of the primitive's rule, and the types of the values that they are about."""
        rule = _rule_of(eqn)
        if rule is None:
            return []
        said: list[tuple[Check, list[AbstractValue]]] = []
        n = len(eqn.invars)

        def flat(*xs: Any) -> list[Any]:
            report = _Reporter(self.errors)
            rule(report, xs[:n], list(xs[n:]), **eqn.params)
            said.extend((r.check, [typeof(x) for x in r.payload]) for r in report.all)
            return []

        stage(flat, [v.aval for v in (*eqn.invars, *eqn.outvars)])
        return said

    def _add(
        self, eqn: Eqn, payloads: Sequence[Sequence[Any]], checks: Sequence[Sequence[Check]]
    ) -> None:
        places = [self._allotted(types) for types in payloads]
        self.found[id(eqn)] = _Places(len(self.checks) + 1, places)
        self.eqns.append(eqn)
        index = tuple(reversed(self.within))
        for several, at in zip(checks, places):
            moved = [c.moved(at) for c in several]
            self.checks += [c._replace(mapped=(*c.mapped, *index)) for c in moved]

    def _allotted(self, types: Sequence[AbstractValue]) -> list[int]:
        """A place for each array: the first one of its type that the check has not taken yet."""
        taken: list[int] = []
        for aval in types:
            strong = aval.strong().with_vma(frozenset())
            held = (*taken, *self.devices)
            free = (i for i, t in enumerate(self.types) if t == strong and i not in held)
            place = next(free, len(self.types))
            if place == len(self.types):
                self.types.append(strong)
            taken.append(place)
        return taken


class _Checker(Interpreter):
    """Keeps the first failure among the checks that were listed."""

    keeps_results = True
    consumed = frozenset({check_p})

    def __init__(self, listed: _Lister) -> None:
        super().__init__([np.int32(0), *(zeros_like_aval(t) for t in listed.types)])
        self.listed = listed
        self.depth = 0  # how many mappings over devices are around

    def enter(self, interface: RegionInterface, n: int) -> None:
        self.depth += bool(interface.axes)

    def joined(
        self, interface: RegionInterface, before: Sequence[Any], after: Sequence[Any]
    ) -> Any:
        """The error of the first device that has one, and which device it is."""
        written = [x is not y for x, y in zip(before, after)]
        had, failed = before[0], lax.ne(after[0], np.int32(0))
        at: Any = lax.argmax(failed, 0, np.int32)
        state = [
            lax.dynamic_index_in_dim(x, at, 0, keepdims=False) if w else x
            for x, w in zip(after, written)
        ]
        place = 1 + self.listed.devices[self.depth]
        is_first = lax.bitwise_and(lax.eq(had, np.int32(0)), lax.ne(state[0], np.int32(0)))
        state[place] = lax.select(is_first, at, state[place])
        return state

    def visit(self, eqn: Eqn, args: list[Any]) -> Any:
        found = self.listed.found.get(id(eqn))
        if eqn.primitive is check_p:
            if found is not None:
                failed, code, *payload = args
                checks = eqn.params["checks"]
                if len(checks) > 1:
                    failed, code = self._asked(checks, failed, code)
                number = lax.add(code, np.int32(found.first - 1))
                self._note(failed, number, found.places[0], payload)
            return []
        if found is None:
            return _applied(eqn, args) if _is_whole(eqn) else NotImplemented
        outs = _applied(eqn, args)
        report = _Reporter(self.listed.errors)
        rule = _rule_of(eqn)
        assert rule is not None
        rule(report, args, outs, **eqn.params)
        for i, (said, places) in enumerate(zip(report.all, found.places)):
            self._note(said.failed, np.int32(found.first + i), places, said.payload)
        return outs

    def _asked(self, checks: Sequence[Check], failed: Any, code: Any) -> tuple[Any, Any]:
        """A failure of somebody else's error, if it is of a kind that was asked for."""
        for i, c in enumerate(checks, 1):
            if c.category not in self.listed.errors:
                failed = lax.bitwise_and(failed, lax.ne(code, np.int32(i)))
        return failed, code

    def _note(self, failed: Any, number: Any, places: Sequence[int], payload: Any) -> None:
        code = self.state[0]
        first = lax.bitwise_and(lax.eq(code, np.int32(0)), failed)
        state = list(self.state)
        state[0] = lax.select(first, number, code)
        for place, x in zip(places, payload):
            kept = state[1 + place]
            new = lax.convert_element_type(lax.stop_gradient(x), typeof(kept).dtype)  # type: ignore[attr-defined]
            state[1 + place] = lax.select(first, new, kept)
        self.state = state
