"""The recording of a script: stages and runs, by function and by operation, and their times."""

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

from ..formatting import is_own, location_of, shown_types, source_text, title_of
from ..misses.history import FIRST, History, Reason, code_of

MOST = 1000
"""The number of intervals that are kept of one stage."""


class Track:
    """The times of one stage, as intervals in seconds.

    Neighbours with a small gap between them are joined; the limit of small gaps is doubled whenever
    there are too many intervals.
    """

    def __init__(self) -> None:
        self._spans: list[list[float]] = []
        self._gap = 1e-4

    def add(self, start: float, end: float) -> None:
        """Add an interval, which ends after those before it."""
        while self._spans and start <= self._spans[-1][1] + self._gap:
            start = min(start, self._spans.pop()[0])
        self._spans.append([start, end])
        if len(self._spans) > MOST:
            self._thin()

    def _thin(self) -> None:
        while len(self._spans) > MOST // 2:
            self._gap *= 2
            old, self._spans = self._spans, []
            for start, end in old:
                if self._spans and start <= self._spans[-1][1] + self._gap:
                    self._spans[-1][1] = end
                else:
                    self._spans.append([start, end])

    def __iter__(self) -> Iterator[tuple[float, float]]:
        return iter([(a, b) for a, b in self._spans])


class OwnTimes:
    """The times of nested intervals without those inside of them.

    Intervals are added at their ends, so that inner ones are first.
    """

    def __init__(self) -> None:
        self._inner: list[tuple[float, float]] = []

    def own(self, start: float, end: float) -> float:
        """The time of an interval that ends now, without intervals inside of it."""
        inside = 0.0
        while self._inner and self._inner[-1][0] >= start:
            start_of_inner, ended = self._inner.pop()
            inside += ended - start_of_inner
        self._inner.append((start, end))
        del self._inner[:-MOST]
        return max(end - start - inside, 0.0)


STAGES = ("trace", "lower", "compile", "run")


@dataclass
class Total:
    """The number of times that something happened, and their total time."""

    count: int = 0
    seconds: float = 0.0

    def add(self, seconds: float) -> None:
        """Count one more."""
        self.count += 1
        self.seconds += seconds


@dataclass
class Event:
    """A trace or a compilation, with its source location, types and reason.

    Attributes:
        stage: the first stage.
        seconds: the time of that stage and of those that followed.
    """

    stage: str
    location: str
    types: str
    reason: Reason
    seconds: float


@dataclass
class Entry:
    """One function of the user's, or one operation that was evaluated outside of any.

    Attributes:
        location: the definition of a function; empty for operations.
        totals: per stage. ``cached``: the number of programs from the cache on disk.
        events: traces, and compilations without a new trace.
    """

    name: str
    location: str = ""
    totals: dict[str, Total] = field(default_factory=lambda: {s: Total() for s in STAGES})
    cached: int = 0
    events: list[Event] = field(default_factory=list[Event])

    @property
    def seconds(self) -> float:
        """The time of all stages."""
        return sum(t.seconds for t in self.totals.values())


class _Owner(NamedTuple):
    """The entry of a program, and the event in which it was traced."""

    entry: Entry
    event: Event | None = None


_COUNTED = "what happened cannot be computed again"


class Recorder:
    """Counts stages and runs, by the hooks of these."""

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
        """Record a trace."""
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
        """Record a lowering."""
        with self._lock:
            entry, event = self._owner(program, name)
            own = self._took(entry, "lower", seconds)
            if event is not None:
                event.seconds += own

    @hookimpl
    def dovetail_compiled(
        self, name: str, cached: bool, seconds: float, program: Any, executable: Any
    ) -> None:
        """Record a compilation."""
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
        """Record a run of a compiled program."""
        with self._lock:
            entry = self._of_executable.known(executable)
            if entry is None:  # compiled before the recording
                entry = self._operation(executable.module.name)
            self._took(entry, "run", seconds)

    def _took(self, entry: Entry, stage: str, seconds: float) -> float:
        """Record a stage that ends now; returns its time without nested stages."""
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
            self.functions[key] = Entry(title_of(function), location_of(function))
        return self.functions[key]

    def _operation(self, name: str) -> Entry:
        return self.operations.setdefault(name, Entry(name))

    def _owner(self, program: Any, name: str) -> _Owner:
        """The owner of a program: its function, or its operation if it has none."""
        return self._of_program.of(program, lambda: _Owner(self._named(name)))

    def _named(self, name: str) -> Entry:
        # A program made of one that was traced: one with mutable arguments, say.
        result = [e for (called, _), e in self.functions.items() if called == name]
        return result[-1] if result else self._operation(name)


@contextmanager
def recording() -> Iterator[Recorder]:
    """A context whose stages and runs are recorded, in all threads."""
    recorder = Recorder()
    manager().register(recorder)
    try:
        with watched_calls(recorder.ran):
            yield recorder
    finally:
        manager().unregister(recorder)


def _here() -> str:
    return source_text(current_source())
