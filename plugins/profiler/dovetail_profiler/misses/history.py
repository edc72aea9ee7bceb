"""Earlier traces and compilations, and the reasons why they happen again."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NamedTuple
from weakref import ref

from dovetail_base.source import callable_name
from dovetail_core import ClosedJaxpr
from dovetail_jit import Executable, Signature, executables_of, signatures

from ..formatting import is_own
from .signatures import COMPARED, KINDS, Difference, Kind, distance, nearest, type_difference

_MANY = 4096
"""The number of functions and operations whose calls are kept."""

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
    """The reason why something is traced or compiled.

    Attributes:
        differences: from the nearest earlier call; empty for the first call.
    """

    differences: Sequence[Difference] = ()

    @property
    def again(self) -> bool:
        """True if it is not the first time."""
        return bool(self.differences)

    def __str__(self) -> str:
        return "; ".join(f"{d.change} ({REASONS[d.kind].name})" for d in self.differences)

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of differences, each once."""
        return tuple(dict.fromkeys(d.kind for d in self.differences))

    @property
    def remedies(self) -> list[str]:
        """The remedy for each kind."""
        return [REASONS[kind].remedy for kind in self.kinds]


FIRST = Reason()


class History:
    """The traces and compilations of a recording.

    It has more than caches: these may have been cleared, and functions with the code of others may
    have died.
    """

    def __init__(self) -> None:
        self._calls: dict[Any, list[tuple[ref[Any], Signature]]] = {}
        self._operations: dict[str, list[ClosedJaxpr]] = {}

    def traced(self, function: Any, signature: Signature) -> Reason:
        """The reason why ``function`` is traced for ``signature``, which is recorded."""
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
        """The reason why a program is compiled that was traced before."""
        earlier = [x for x in executables_of(program) if x is not made]
        if not earlier:
            return FIRST
        options = [_executables(made, before) for before in reversed(earlier)]
        return Reason(min(options, key=distance))

    def operation(self, name: str, program: ClosedJaxpr) -> Reason:
        """The reason why a program of one operation ``name`` is compiled, which is recorded."""
        earlier = self._operations.get(name, [])
        options = [_programs(program, before) for before in reversed(earlier)]
        _remember(self._operations, name, program)
        return Reason(min(options, key=distance)) if options else FIRST


def code_of(function: Any) -> Any:
    """A key of functions: their code, and the codes of the functions that they wrap."""
    codes: list[Any] = []
    while function is not None and len(codes) < 32:
        try:
            target = inspect.unwrap(function, stop=lambda f: hasattr(f, "__code__"))
        except ValueError:  # a cycle of wrappers
            target = function
        codes.append(getattr(target, "__code__", type(target)))
        function = getattr(target, "__wrapped__", None) or getattr(target, "func", None)
    return tuple(codes)


def _remember(entries: dict[Any, list[Any]], key: Any, item: Any) -> None:
    """Add an item to the last few of a key; of too many keys the oldest is dropped."""
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
