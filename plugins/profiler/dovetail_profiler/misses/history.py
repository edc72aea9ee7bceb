"""What was traced and compiled before, and the reason why that happens again."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NamedTuple
from weakref import ref

from dovetail_base.source import callable_name
from dovetail_core import ClosedJaxpr
from dovetail_jit import Executable, Signature, executables_of, signatures

from ..functions import is_own
from .signatures import COMPARED, KINDS, Difference, Kind, distance, nearest, type_difference

_MANY = 4096
"""Of how many functions and operations calls are remembered."""

REASONS = {
    **KINDS,
    "function": Kind(
        "another function object",
        "Make the function, and jit it, once and outside of the loop that calls it.",
    ),
    "forgotten": Kind(
        "it was forgotten",
        "Call clear_caches() less often. Or does it close over a mutable value of another type?",
    ),
    "device": Kind("another device", "Keep the arguments of one function on one device."),
    "donated": Kind(
        "other donated arguments",
        "Give one jitted function the same donated arguments wherever it is called.",
    ),
    "unused": Kind("other arguments kept", "Give one function one setting of keep_unused."),
    "compiler option": Kind(
        "other compiler options", "Give one function one set of compiler options."
    ),
    "rules": Kind(
        "other rules or passes", "Import plugins that add rules or passes before the first call."
    ),
    "parameter": Kind(
        "another parameter",
        "Each value of a parameter is a program; inside of a jitted function it is part of one.",
    ),
}
"""All kinds of reasons."""


class Reason(NamedTuple):
    """Why something is traced or compiled; no differences where it is for the first time.

    Attributes:
        differences: from the nearest earlier call.
    """

    differences: Sequence[Difference] = ()

    @property
    def again(self) -> bool:
        """Whether it is not for the first time."""
        return bool(self.differences)

    def __str__(self) -> str:
        return "; ".join(f"{d.change} ({REASONS[d.kind].name})" for d in self.differences)

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of what differs, each once."""
        return tuple(dict.fromkeys(d.kind for d in self.differences))

    @property
    def remedies(self) -> list[str]:
        """What can be done, for each kind."""
        return [REASONS[kind].remedy for kind in self.kinds]


FIRST = Reason()


class History:
    """What has been traced and compiled while it was told.

    It is more than caches know: they may have been emptied, and functions may be gone whose code is
    that of others.
    """

    def __init__(self) -> None:
        self._calls: dict[Any, list[tuple[ref[Any], Signature]]] = {}
        self._operations: dict[str, list[ClosedJaxpr]] = {}

    def traced(self, function: Any, signature: Signature) -> Reason:
        """Why ``function`` is traced for ``signature``, which is remembered."""
        key = callable_name(function), code_of(function)
        known = self._calls.get(key, [])
        with suppress(TypeError):  # it cannot be referred to weakly
            _remember(self._calls, key, (ref(function), signature))
        earlier = signatures(function)
        if not earlier:
            earlier = [s for made, s in known if made() is function]
        result = nearest(function, signature, earlier)
        if result is not None:
            return Reason(result or [Difference(callable_name(function), "forgotten")])
        if not known or is_own(function):
            return FIRST
        others = nearest(function, signature, [s for _, s in known]) or []
        return Reason([Difference(callable_name(function), "function"), *others])

    def compiled(self, program: ClosedJaxpr, made: Executable) -> Reason:
        """Why a program is compiled that was traced before."""
        earlier = [x for x in executables_of(program) if x is not made]
        if not earlier:
            return FIRST
        options = [_executables(made, before) for before in reversed(earlier)]
        return Reason(min(options, key=distance))

    def operation(self, name: str, program: ClosedJaxpr) -> Reason:
        """Why a program is compiled that does one operation ``name``; it is remembered."""
        earlier = self._operations.get(name, [])
        options = [_programs(program, before) for before in reversed(earlier)]
        _remember(self._operations, name, program)
        return Reason(min(options, key=distance)) if options else FIRST


def code_of(function: Any) -> Any:
    """What functions have in common that one piece of code makes: that, and what it wraps."""
    codes: list[Any] = []
    while function is not None and len(codes) < 32:
        try:
            target = inspect.unwrap(function, stop=lambda f: hasattr(f, "__code__"))
        except ValueError:  # it says that it wraps something for ever
            target = function
        codes.append(getattr(target, "__code__", type(target)))
        function = getattr(target, "__wrapped__", None) or getattr(target, "func", None)
    return tuple(codes)


def _remember(entries: dict[Any, list[Any]], key: Any, item: Any) -> None:
    """Keep it with the last few of its kind; of too many kinds the oldest goes."""
    entries[key] = [*entries.get(key, [])[1 - COMPARED :], item]
    if len(entries) > _MANY:
        del entries[next(iter(entries))]


def _executables(now: Executable, before: Executable) -> list[Difference]:
    pairs = (
        ("the device", "device", now.device, before.device),
        ("donated arguments", "donated", now.module.donated, before.module.donated),
        ("arguments that are kept", "unused", now.module.kept, before.module.kept),
        ("compiler options", "compiler option", now.options, before.options),
    )
    result = [Difference(what, kind, str(a), str(b)) for what, kind, a, b in pairs if a != b]
    return result or [Difference("rules or passes that came meanwhile", "rules")]


def _programs(now: ClosedJaxpr, before: ClosedJaxpr) -> list[Difference]:
    result: list[Difference] = []
    if len(now.in_avals) != len(before.in_avals):
        counts = [f"{len(p.in_avals)} operands" for p in (now, before)]
        result.append(Difference("the call", "arguments", counts[0], counts[1]))
    for i, (a, b) in enumerate(zip(now.in_avals, before.in_avals)):
        result += type_difference(f"operand {i}", a, b)
    here, there = (p.eqns[0].params if p.eqns else {} for p in (now, before))
    for name, value in here.items():
        if name in there and not _same(value, there[name]):
            shown = [_short(value), _short(there[name])]
            result.append(Difference(name, "parameter", shown[0], shown[1]))
    return result or [Difference("the program", "forgotten")]


def _same(a: Any, b: Any) -> bool:
    try:
        return bool(a == b)
    except Exception:  # parameters are of any type
        return False


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 40 else f"{text[:37]}..."
