"""A profile as numbers and sentences, and as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dovetail_cli.render import count, table

from ..formatting import shown_time
from ..misses.history import REASONS
from .recording import STAGES, Entry, Event, Recorder

SHOWN = 15
"""The number of lines of a table in a terminal."""
EXAMPLES = 3
"""The number of examples of each cause."""


@dataclass(frozen=True)
class Cause:
    """A reason why something was traced or compiled again, with its events.

    Attributes:
        what: the kinds and arguments that differed, in words.
    """

    what: str
    events: Sequence[Event]

    @property
    def seconds(self) -> float:
        """The time of tracing and compiling again."""
        return sum(e.seconds for e in self.events)

    @property
    def remedies(self) -> list[str]:
        """The remedies of the reason."""
        return self.events[0].reason.remedies

    @property
    def examples(self) -> list[str]:
        """The first few events, each with its source location."""
        return [
            ", ".join([f"at {e.location}", *[d.change for d in e.reason.differences if d.now]])
            for e in self.events[:EXAMPLES]
        ]


@dataclass(frozen=True)
class Profile:
    """The profile of a script.

    Attributes:
        script: its name. ``seconds``: from its start to its end.
        functions, operations: entries, the longest first.
        tracks: per stage, the intervals (in seconds from the beginning) in which it ran.
    """

    script: str
    seconds: float
    functions: list[Entry]
    operations: list[Entry]
    tracks: dict[str, list[tuple[float, float]]]

    def spent(self, stage: str) -> float:
        """The time of one stage, without other stages inside of it."""
        return sum(e.totals[stage].seconds for e in (*self.functions, *self.operations))

    @property
    def rest(self) -> float:
        """The time of Python: imports, the script itself, and the profile."""
        return max(self.seconds - sum(map(self.spent, STAGES)), 0.0)


def profile_of(recorder: Recorder, script: str, seconds: float) -> Profile:
    """The profile of a recording, with ordered entries."""

    def ordered(entries: dict[object, Entry]) -> list[Entry]:
        return sorted(entries.values(), key=lambda e: (-e.seconds, e.name))

    tracks = {stage: list(track) for stage, track in recorder.tracks.items()}
    return Profile(
        script, seconds, ordered({**recorder.functions}), ordered({**recorder.operations}), tracks
    )


def causes(entry: Entry) -> list[Cause]:
    """The reasons why an entry was traced or compiled again, the longest first."""
    groups: dict[str, list[Event]] = {}
    for event in entry.events:
        if event.reason.again:
            whats = [f"{REASONS[d.kind].name}: {d.what}" for d in event.reason.differences]
            groups.setdefault("; ".join(dict.fromkeys(whats)), []).append(event)
    result = [Cause(what, events) for what, events in groups.items()]
    return sorted(result, key=lambda c: (-c.seconds, c.what))


def text_of(profile: Profile) -> str:
    """The profile for a terminal."""
    parts = [_header(profile)]
    if profile.functions:
        parts.append(_functions(profile.functions))
    if profile.operations:
        parts.append(_operations(profile.operations))
    parts += [*_again(profile)]
    return "\n\n".join(parts)


WORDS = {"trace": "tracing", "lower": "lowering", "compile": "compiling", "run": "running"}


def _header(profile: Profile) -> str:
    spent = [f"{shown_time(profile.spent(s))} {WORDS[s]}" for s in STAGES]
    return (
        f"profile of {profile.script}: {shown_time(profile.seconds)}\n"
        f"  {', '.join(spent)}; {shown_time(profile.rest)} Python and counting"
    )


def _cell(entry: Entry, stage: str) -> str:
    total = entry.totals[stage]
    if not total.count:
        return ""
    cached = f" ({entry.cached} from disk)" if stage == "compile" and entry.cached else ""
    return f"{total.count}{cached} in {shown_time(total.seconds)}"


def _functions(entries: Sequence[Entry]) -> str:
    lines = [[e.name, e.location, *[_cell(e, s) for s in STAGES]] for e in entries[:SHOWN]]
    header = ["function", "defined at", "traced", "lowered", "compiled", "run"]
    return table(header, lines) + _more(entries, "function")


def _operations(entries: Sequence[Entry]) -> str:
    lines = [[e.name, *[_cell(e, s) for s in ("compile", "run")]] for e in entries[:SHOWN]]
    header = ["operation outside of jit", "compiled", "run"]
    return table(header, lines) + _more(entries, "operation")


def _more(entries: Sequence[Entry], noun: str) -> str:
    more = len(entries) - SHOWN
    return f"\nand {count(more, 'other ' + noun)}" if more > 0 else ""


def _again(profile: Profile) -> Iterator[str]:
    for entry in (*profile.functions, *profile.operations[:SHOWN]):
        result = causes(entry)
        if result:
            stages = {e.stage for c in result for e in c.events}
            done = " and ".join(w for s, w in DONE.items() if s in stages)
            location = f" ({entry.location})" if entry.location else ""
            lines = [f"why {entry.name}{location} was {done} again"]
            for cause in result:
                times = count(len(cause.events), "time")
                lines.append(f"  {times} {cause.what} ({shown_time(cause.seconds)})")
                lines += [f"      {example}" for example in cause.examples]
                if len(cause.events) > EXAMPLES:
                    lines.append(f"      and {count(len(cause.events) - EXAMPLES, 'other time')}")
                lines += [f"    {remedy}" for remedy in cause.remedies]
            yield "\n".join(lines)


DONE = {"trace": "traced", "compile": "compiled"}
