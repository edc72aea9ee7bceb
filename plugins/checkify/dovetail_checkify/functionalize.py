"""``checkify``: a function that also returns the first failure of its checks.

A first pass over the program, which computes nothing, lists its checks; so the error that the
second one threads through it, as the state of an interpretation, has a fixed type. Arrays of equal
types share slots in it: only one check fails first.
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

from .errors import Check, Error, ErrorCategory, categories, user_checks
from .primitive import check_p
from .tables import check_nan, check_rules


def checkify(
    f: Callable[..., Any], errors: frozenset[ErrorCategory] = user_checks
) -> Callable[..., tuple[Error, Any]]:
    """``f`` with its first failure: ``error, out = checkify(f)(*args, **kwargs)``.

    After a failure the function runs on, with whatever values it has. Outside of compiled code,
    ``error.get()`` returns the message, and ``error.throw()`` raises it.

    Args:
        f: a function to a pytree of arrays. Its arguments may be of any type and are passed
            unchanged, so that it may use known ones as conditions. Only NumPy's arrays and numbers
            become arrays, whose operations are checked.
        errors: the kinds of errors that are checked, by default those of ``check``. Checks of other
            kinds are left out.

    Raises:
        TypeError: ``f`` cannot be called, or ``errors`` is not a set of kinds of errors.
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
    """NumPy's values as arrays, because operations of NumPy are not in the program."""
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
    if not lister.slots_of and not lister.left_out:
        return Error(np.False_, np.int32(0), (), ()), jaxpr_as_fun(program)(*args)
    checker = _Checker(lister)
    outs = checker.run(program, args)
    code, *payload = checker.state
    return Error(lax.ne(code, np.int32(0)), code, tuple(lister.checks), tuple(payload)), outs


class _Reported(NamedTuple):
    """A check of a rule, with the failure flag and the values that the rule reported."""

    check: Check
    failed: Any
    payload: Sequence[Any]


class _Reporter:
    """Collects the checks that a rule reports (see ``tables.Report``)."""

    def __init__(self, errors: frozenset[ErrorCategory]) -> None:
        self.errors = errors
        self.all: list[_Reported] = []

    def wants(self, category: ErrorCategory) -> bool:
        return category in self.errors

    def __call__(self, category: ErrorCategory, failed: Any, message: str, *payload: Any) -> None:
        if category in self.errors:
            structure = tree_structure((payload, {}))
            slots = tuple(range(len(payload)))
            check = Check(category, message, structure, slots, current_source())
            self.all.append(_Reported(check, failed, payload))


def _rule_of(eqn: Eqn) -> Callable[..., None] | None:
    primitive = eqn.primitive
    rule = check_rules.rules.get(primitive)
    if rule is not None or eqn.effects:
        return rule
    if primitive.regions is None:
        return check_rules.miss(primitive)
    # Iterations without an order have no first failure: only the results are checked.
    return check_nan(primitive.name) if _is_opaque(eqn) else None


def _is_opaque(eqn: Eqn) -> bool:
    """True for an equation whose regions are not checked one by one."""
    regions = eqn.primitive.regions
    return regions is not None and not eqn.effects and regions(eqn.params).runs == "in any order"


def _applied(eqn: Eqn, args: Sequence[Any]) -> list[Any]:
    out = eqn.primitive.bind(*args, **eqn.params)
    return list(out) if eqn.primitive.multiple_results else [out]


class _Slots(NamedTuple):
    """The checks of an equation in the error: the first number, and slots of their arrays."""

    first: int
    slots: list[list[int]]


class _Lister(Interpreter):
    """Lists the checks of a program by equation, and the types of the values in their messages."""

    def __init__(self, errors: frozenset[ErrorCategory]) -> None:
        super().__init__()
        self.errors = errors
        self.checks: list[Check] = []
        self.types: list[AbstractValue] = []
        self.slots_of: dict[int, _Slots] = {}
        self.eqns: list[Eqn] = []  # kept, so that an identity stays one equation's
        self.left_out: list[Eqn] = []  # checks of kinds that are not requested
        self.devices: list[int] = []  # by depth: the slot of the index of the device that fails
        self.within: tuple[int, ...] = ()  # the slots for devices around the current equation

    def enter(self, interface: RegionInterface, n: int) -> None:
        if interface.axes:
            depth = len(self.within)
            if depth == len(self.devices):
                self.devices.append(len(self.types))
                self.types.append(ShapedArray((), np.dtype(np.int32)))
            self.within = (*self.within, self.devices[depth])

    def visit(self, eqn: Eqn, args: list[Any]) -> Any:
        if id(eqn) in self.slots_of:  # a program is called twice
            return _applied(eqn, args) if _is_opaque(eqn) else NotImplemented
        if eqn.primitive is check_p:
            checks: tuple[Check, ...] = eqn.params["checks"]
            if any(c.category in self.errors for c in checks):
                types = [v.aval for v in eqn.invars[2:]]
                self._add(eqn, [types], [checks])
            else:
                self.left_out.append(eqn)
        elif own := self._checks_of(eqn):
            self._add(eqn, [types for _, types in own], [(check,) for check, _ in own])
        return _applied(eqn, args) if _is_opaque(eqn) else NotImplemented

    def _checks_of(self, eqn: Eqn) -> list[tuple[Check, list[AbstractValue]]]:
        """The checks of the primitive's rule, and the types of the values in their messages."""
        rule = _rule_of(eqn)
        if rule is None:
            return []
        checks: list[tuple[Check, list[AbstractValue]]] = []
        n = len(eqn.invars)

        def flat(*xs: Any) -> list[Any]:
            report = _Reporter(self.errors)
            rule(report, xs[:n], list(xs[n:]), **eqn.params)
            checks.extend((r.check, [typeof(x) for x in r.payload]) for r in report.all)
            return []

        stage(flat, [v.aval for v in (*eqn.invars, *eqn.outvars)])
        return checks

    def _add(
        self, eqn: Eqn, payloads: Sequence[Sequence[Any]], checks: Sequence[Sequence[Check]]
    ) -> None:
        slots = [self._allotted(types) for types in payloads]
        self.slots_of[id(eqn)] = _Slots(len(self.checks) + 1, slots)
        self.eqns.append(eqn)
        index = tuple(reversed(self.within))
        for several, at in zip(checks, slots):
            moved = [c.moved(at) for c in several]
            self.checks += [c._replace(mapped=(*c.mapped, *index)) for c in moved]

    def _allotted(self, types: Sequence[AbstractValue]) -> list[int]:
        """A slot for each array: the first of its type that the check does not use yet."""
        taken: list[int] = []
        for aval in types:
            strong = aval.strong().with_vma(frozenset())
            held = (*taken, *self.devices)
            free = (i for i, t in enumerate(self.types) if t == strong and i not in held)
            slot = next(free, len(self.types))
            if slot == len(self.types):
                self.types.append(strong)
            taken.append(slot)
        return taken


class _Checker(Interpreter):
    """Keeps the first failure among the listed checks."""

    keeps_results = True
    consumed = frozenset({check_p})

    def __init__(self, listed: _Lister) -> None:
        super().__init__([np.int32(0), *(zeros_like_aval(t) for t in listed.types)])
        self.listed = listed
        self.depth = 0  # the number of enclosing mappings over devices

    def enter(self, interface: RegionInterface, n: int) -> None:
        self.depth += bool(interface.axes)

    def joined(
        self, interface: RegionInterface, before: Sequence[Any], after: Sequence[Any]
    ) -> Any:
        """The error of the first device that has one, and the index of that device."""
        written = [x is not y for x, y in zip(before, after)]
        had, failed = before[0], lax.ne(after[0], np.int32(0))
        at: Any = lax.argmax(failed, 0, np.int32)
        state = [
            lax.dynamic_index_in_dim(x, at, 0, keepdims=False) if w else x
            for x, w in zip(after, written)
        ]
        slot = 1 + self.listed.devices[self.depth]
        is_first = lax.bitwise_and(lax.eq(had, np.int32(0)), lax.ne(state[0], np.int32(0)))
        state[slot] = lax.select(is_first, at, state[slot])
        return state

    def visit(self, eqn: Eqn, args: list[Any]) -> Any:
        own = self.listed.slots_of.get(id(eqn))
        if eqn.primitive is check_p:
            if own is not None:
                failed, code, *payload = args
                checks = eqn.params["checks"]
                if len(checks) > 1:
                    failed, code = self._without_excluded(checks, failed, code)
                number = lax.add(code, np.int32(own.first - 1))
                self._note(failed, number, own.slots[0], payload)
            return []
        if own is None:
            return _applied(eqn, args) if _is_opaque(eqn) else NotImplemented
        outs = _applied(eqn, args)
        report = _Reporter(self.listed.errors)
        rule = _rule_of(eqn)
        assert rule is not None
        rule(report, args, outs, **eqn.params)
        for i, (r, slots) in enumerate(zip(report.all, own.slots)):
            self._note(r.failed, np.int32(own.first + i), slots, r.payload)
        return outs

    def _without_excluded(self, checks: Sequence[Check], failed: Any, code: Any) -> tuple[Any, Any]:
        """A failure reported by ``check_error``, cleared if it is of a kind not requested."""
        for i, c in enumerate(checks, 1):
            if c.category not in self.listed.errors:
                failed = lax.bitwise_and(failed, lax.ne(code, np.int32(i)))
        return failed, code

    def _note(self, failed: Any, number: Any, slots: Sequence[int], payload: Any) -> None:
        code = self.state[0]
        first = lax.bitwise_and(lax.eq(code, np.int32(0)), failed)
        state = list(self.state)
        state[0] = lax.select(first, number, code)
        for slot, x in zip(slots, payload):
            kept = state[1 + slot]
            new = lax.convert_element_type(lax.stop_gradient(x), typeof(kept).dtype)  # type: ignore[attr-defined]
            state[1 + slot] = lax.select(first, new, kept)
        self.state = state
