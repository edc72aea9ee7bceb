"""What is recorded while a script runs: stages and runs, by function and by operation."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from dovetail_base.source import callable_name
from dovetail_core import WeakTable, current_source, hookimpl
from dovetail_hooks import manager
from dovetail_jit import Executable, Signature, watched_calls
from dovetail_xla.config import tracing_state

from ..functions import is_own, place_of, shown_types, title_of, where
from ..misses.history import FIRST, History, Reason, code_of
from .timeline import OwnTimes, Track

STAGES = ("trace", "lower", "compile", "run")


@dataclass
class Total:
    """How often something happened, and how long it took together."""

    count: int = 0
    seconds: float = 0.0

    def add(self, seconds: float) -> None:
        """Once more."""
        self.count += 1
        self.seconds += seconds


@dataclass
class Event:
    """Something was traced or compiled: where, for which types, and why (again).

    Attributes:
        stage: the first one that this made necessary.
        seconds: of that stage and of those that followed from it.
    """

    stage: str
    where: str
    types: str
    reason: Reason
    seconds: float


@dataclass
class Entry:
    """One function of the user's, or one operation that was evaluated outside of any.

    Attributes:
        place: where a function is defined; empty for operations.
        totals: per stage. ``cached``: how many programs came from the cache on disk.
        events: what was traced, and what was compiled with no new trace.
    """

    name: str
    place: str = ""
    totals: dict[str, Total] = field(default_factory=lambda: {s: Total() for s in STAGES})
    cached: int = 0
    events: list[Event] = field(default_factory=list[Event])

    @property
    def seconds(self) -> float:
        """The time of all stages."""
        return sum(t.seconds for t in self.totals.values())


class _Owner(NamedTuple):
    """Whose program something is, and the event in which it was traced."""

    entry: Entry
    event: Event | None = None


_COUNTED = "what happened cannot be computed again"


class Recorder:
    """Hears of stages and runs, and counts them."""

    def __init__(self) -> None:
        self.start = time.perf_counter()
        self.functions: dict[Any, Entry] = {}
        self.operations: dict[str, Entry] = {}
        self.tracks = {stage: Track() for stage in STAGES}
        self.history = History()
        self._of_program: WeakTable[_Owner] = WeakTable(permanent=_COUNTED)
        self._of_executable: WeakTable[Entry] = WeakTable(permanent=_COUNTED)
        self._own = threading.local()
        self._lock = threading.RLock()

    @hookimpl
    def dovetail_traced(
        self, program: Any, seconds: float, function: Any, signature: Signature
    ) -> None:
        """A function was traced."""
        with self._lock:
            entry = self._entry(function)
            own = self._took(entry, "trace", seconds)
            reason = self.history.traced(function, signature)
            if tracing_state.value:  # the function around it is the one that has a reason
                reason = FIRST
            types = shown_types(function, signature)
            event = Event("trace", _here(), types, reason, own)
            entry.events.append(event)
            self._of_program.of(program, lambda: _Owner(entry, event))

    @hookimpl
    def dovetail_lowered(self, name: str, seconds: float, program: Any) -> None:
        """A program was lowered."""
        with self._lock:
            entry, event = self._owner(program, name)
            own = self._took(entry, "lower", seconds)
            if event is not None:
                event.seconds += own

    @hookimpl
    def dovetail_compiled(
        self, name: str, cached: bool, seconds: float, program: Any, executable: Any
    ) -> None:
        """A program was compiled."""
        with self._lock:
            entry, event = self._owner(program, name)
            self._of_executable.put(executable, entry)
            own = self._took(entry, "compile", seconds)
            entry.cached += cached
            reason = self.history.compiled(program, executable)
            if event is not None and not reason.again:
                event.seconds += own
                return
            if not reason.again:
                reason = self.history.operation(name, program)
            types = ", ".join(a.str_short() for a in program.in_avals)
            entry.events.append(Event("compile", _here(), types, reason, own))

    def ran(self, executable: Executable, seconds: float) -> None:
        """A compiled program was run."""
        with self._lock:
            entry = self._of_executable.known(executable)
            if entry is None:  # compiled before anybody listened
                entry = self._operation(executable.module.name)
            self._took(entry, "run", seconds)

    def _took(self, entry: Entry, stage: str, seconds: float) -> float:
        """Note a stage that is over now; its time without others inside of it."""
        end = time.perf_counter()
        nested: OwnTimes | None = getattr(self._own, "times", None)
        if nested is None:
            nested = self._own.times = OwnTimes()
        own = nested.own(end - seconds, end)
        entry.totals[stage].add(own)
        self.tracks[stage].add(end - seconds - self.start, end - self.start)
        return own

    def _entry(self, function: Any) -> Entry:
        name = callable_name(function)
        if is_own(function):
            private = name.startswith("_") and not name.endswith("_")
            home = str(function.__module__).removeprefix("dovetail_")
            return self._operation(home if private else name)
        key = name, code_of(function)
        if key not in self.functions:
            self.functions[key] = Entry(title_of(function), place_of(function))
        return self.functions[key]

    def _operation(self, name: str) -> Entry:
        return self.operations.setdefault(name, Entry(name))

    def _owner(self, program: Any, name: str) -> _Owner:
        """The function whose program this is; the operation, if it is of none."""
        return self._of_program.of(program, lambda: _Owner(self._named(name)))

    def _named(self, name: str) -> Entry:
        # A program made of one that was traced: one with mutable arguments, say.
        result = [e for (called, _), e in self.functions.items() if called == name]
        return result[-1] if result else self._operation(name)


@contextmanager
def recording() -> Iterator[Recorder]:
    """Record what happens inside, in all threads."""
    recorder = Recorder()
    manager().register(recorder)
    try:
        with watched_calls(recorder.ran):
            yield recorder
    finally:
        manager().unregister(recorder)


def _here() -> str:
    return where(current_source())
