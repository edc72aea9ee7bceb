"""``dovetail profile --html``: a profile as a page for a browser."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from ..formatting import shown_time
from ..pages import COLOURS, REST, document, legend, table_of, ticks
from .recording import STAGES, Entry
from .summary import DONE, WORDS, Profile, causes

_COLOUR = dict(zip(STAGES, COLOURS))
MOST = 50
"""The number of events of one kind that are listed."""
_WIDTH, _LEFT, _LINE = 1000, 80, 26
"""Of the picture: its width, that of its labels, and the height of a line."""


def page(profile: Profile) -> str:
    """The page as HTML."""
    return document(f"Profile of {profile.script}", _body(profile))


def _body(profile: Profile) -> Iterator[str]:
    yield f"<p>{shown_time(profile.seconds)} from its beginning to its end.</p>"
    yield _shares(profile)
    yield "<h2>When</h2>"
    yield _timeline(profile)
    if profile.functions:
        yield "<h2>Functions</h2>"
        yield _functions(profile.functions)
    again = [e for e in (*profile.functions, *profile.operations) if causes(e)]
    if again:
        yield "<h2>Why again</h2>"
        for entry in again:
            yield from _causes(entry)
    if profile.operations:
        yield "<h2>Operations outside of jit</h2>"
        yield (
            '<p class="faint">Each is a program of its own. Inside of a jitted function they are '
            "part of one, which is compiled once and run at once.</p>"
        )
        yield _operations(profile.operations)
    yield (
        '<p class="faint">A time is that of a stage without others inside of it. Runs are waited '
        "for one by one while a profile is taken, so they do not overlap with Python as they "
        "otherwise do.</p>"
    )


def _shares(profile: Profile) -> str:
    parts = [(_COLOUR[s], WORDS[s], profile.spent(s)) for s in STAGES]
    parts.append((REST, "Python and counting", profile.rest))
    total = sum(seconds for _, _, seconds in parts) or 1.0
    bars = "".join(
        f'<div class="{c}" style="width:{100 * t / total:.2f}%" title="{w}: {shown_time(t)}"></div>'
        for c, w, t in parts
    )
    texts = [(c, f"{w} {shown_time(t)} ({t / total:.0%})") for c, w, t in parts]
    return f'<div class="bar">{bars}</div>{legend(texts)}'


def _timeline(profile: Profile) -> str:
    height = _LINE * len(STAGES)
    scale = (_WIDTH - _LEFT) / (profile.seconds or 1.0)
    lines = [f'<svg viewBox="0 0 {_WIDTH} {height + 20}" role="img" aria-label="when stages ran">']
    for at in ticks(profile.seconds, 8):
        x = _LEFT + at * scale
        lines.append(f'<line class="axis" x1="{x:.1f}" x2="{x:.1f}" y1="0" y2="{height}"/>')
        anchor = "end" if x > _WIDTH - 30 else "middle" if at else "start"
        text = shown_time(at) if at else "0"
        lines.append(f'<text x="{x:.1f}" y="{height + 14}" text-anchor="{anchor}">{text}</text>')
    for i, stage in enumerate(STAGES):
        y = i * _LINE
        lines.append(f'<text x="0" y="{y + 17}">{WORDS[stage]}</text>')
        lines += [
            f'<rect class="{_COLOUR[stage]}" x="{_LEFT + a * scale:.2f}" y="{y + 4}" '
            f'width="{max((b - a) * scale, 0.6):.2f}" height="{_LINE - 8}"><title>{WORDS[stage]} '
            f"from {shown_time(a)} to {shown_time(b)}</title></rect>"
            for a, b in profile.tracks[stage]
        ]
    return "\n".join([*lines, "</svg>"])


def _cell(entry: Entry, stage: str) -> str:
    total = entry.totals[stage]
    if not total.count:
        return ""
    each = f", {shown_time(total.seconds / total.count)} each" if total.count > 1 else ""
    cached = f", {entry.cached} from disk" if stage == "compile" and entry.cached else ""
    return f"{total.count} &times;{cached}<small>{shown_time(total.seconds)}{each}</small>"


def _functions(entries: Sequence[Entry]) -> str:
    header = ["function", "defined at", "traced", "lowered", "compiled", "run", "together"]
    lines = [
        [
            _events(e),
            f'<span class="code">{escape(e.location)}</span>',
            *[_cell(e, s) for s in STAGES],
            shown_time(e.seconds),
        ]
        for e in entries
    ]
    return table_of(header, lines, range(2, 7))


def _events(entry: Entry) -> str:
    """A function's name, which expands to its traces and compilations."""
    shown = [
        f'<li class="code">{escape(e.types)} at {escape(e.location)}: {shown_time(e.seconds)}</li>'
        for e in entry.events[:MOST]
    ]
    more = len(entry.events) - MOST
    shown += [f"<li>and {more} more</li>"] if more > 0 else []
    name = f'<span class="code">{escape(entry.name)}</span>'
    return f"<details><summary>{name}</summary><ul>{''.join(shown)}</ul></details>"


def _operations(entries: Sequence[Entry]) -> str:
    header = ["operation", "compiled", "run", "together"]
    lines = [
        [
            f'<span class="code">{escape(e.name)}</span>',
            _cell(e, "compile"), _cell(e, "run"), shown_time(e.seconds),
        ]
        for e in entries
    ]  # fmt: skip
    return table_of(header, lines, range(1, 4))


def _causes(entry: Entry) -> Iterator[str]:
    result = causes(entry)
    stages = {e.stage for c in result for e in c.events}
    done = " and ".join(w for s, w in DONE.items() if s in stages)
    location = f' <small class="code">{escape(entry.location)}</small>' if entry.location else ""
    yield f'<h3><span class="code">{escape(entry.name)}</span>{location}</h3>'
    for cause in result:
        times = len(cause.events)
        yield (
            f'<div class="cause"><b>{done} again {times} {"time" if times == 1 else "times"}, for '
            f"{escape(cause.what)}</b> <small>({shown_time(cause.seconds)})</small><ul>"
        )
        for event in cause.events[:MOST]:
            changes = [d.change for d in event.reason.differences if d.now]
            text = ", ".join([f"at {event.location}", *changes])
            yield f'<li class="code">{escape(text)}</li>'
        if times > MOST:
            yield f"<li>and {times - MOST} more</li>"
        remedies = " ".join(cause.remedies)
        yield f'</ul><p class="remedy">{escape(remedies)}</p></div>'
