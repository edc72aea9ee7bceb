"""``dovetail memory --html``: live memory over a program as a picture."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from itertools import accumulate

from ..formatting import shown_bytes, source_text
from ..pages import COLOURS, REST, document, legend, table_of, ticks
from .analysis import Memory, owner_of, sizes, sizes_header
from .liveness import Buffer

_WIDTH, _HEIGHT, _LEFT, _BELOW = 1000, 330, 70, 34
_STEPS = 400
"""The largest number of steps in the picture; of more, the highest of several is drawn."""


def page(memory: Memory) -> str:
    """The page as HTML."""
    return document(f"Live memory of {memory.name}", _body(memory))


def _body(memory: Memory) -> Iterator[str]:
    live = memory.live
    step = live.steps[live.peak_at]
    yield f'<p class="code">{escape(memory.name)}({escape(memory.types)})</p>'
    yield (
        f"<p>The peak is <b>{shown_bytes(memory.peak)}</b> at step {live.peak_at + 1} of "
        f'{len(live.steps)}: <span class="code">{escape(step.operation)} at '
        f"{escape(source_text(step.source))}</span>.</p>"
    )
    layers = _layers(memory)
    yield _picture(memory, layers)
    yield legend([(colour, owner) for owner, colour, _ in layers])
    yield "<h2>Who owns the peak</h2>"
    yield _owners(memory, {owner: colour for owner, colour, _ in layers})
    yield "<h2>Sizes</h2>"
    yield table_of(
        sizes_header(memory), [[escape(c) for c in line] for line in sizes(memory)], (1, 2)
    )
    yield (
        '<p class="faint">The picture is of the program as it is written, one operation after the '
        "other; of a loop it shows one iteration. Compilers fuse operations, so that many values "
        "are never in memory, and reorder them: what is temporary as compiled is often less.</p>"
    )


Layer = tuple[str, str, list[int]]


def _layers(memory: Memory) -> list[Layer]:
    """Owners, each with its colour and its bytes at every step, with permanent arguments below."""
    live = memory.live
    shown = sorted(memory.owners[: len(COLOURS)], key=lambda o: o.buffers[0].source is not None)
    named = [o.location for o in shown]
    groups: dict[str, list[Buffer]] = {location: [] for location in named}
    for b in live.buffers:
        location = owner_of(b)
        groups.setdefault(location if location in named else "others", []).append(b)
    colours = [*COLOURS[: len(named)], REST]
    return [
        (location, colour, _bytes(buffers, len(live.steps)))
        for (location, buffers), colour in zip(groups.items(), colours)
    ]


def _bytes(buffers: Sequence[Buffer], steps: int) -> list[int]:
    change = [0] * (steps + 1)
    for b in buffers:
        change[b.start] += b.nbytes
        change[b.end + 1] -= b.nbytes
    return list(accumulate(change[:-1]))


def _drawn(memory: Memory) -> list[int]:
    """The steps that are drawn, side by side."""
    timeline = memory.live.timeline
    every = -(-len(timeline) // _STEPS)
    starts = range(0, len(timeline), every)
    return [max(range(len(timeline))[i : i + every], key=timeline.__getitem__) for i in starts]


def _picture(memory: Memory, layers: Sequence[Layer]) -> str:
    drawn, peak = _drawn(memory), max(memory.peak, 1)
    dx, dy = (_WIDTH - _LEFT) / len(drawn), (_HEIGHT - 20) / peak
    size = f"0 0 {_WIDTH} {_HEIGHT + _BELOW}"
    lines = [f'<svg viewBox="{size}" role="img" aria-label="live memory over the program">']
    for at in ticks(peak, 6):
        y = _HEIGHT - at * dy
        lines.append(f'<line class="axis" x1="{_LEFT}" x2="{_WIDTH}" y1="{y:.1f}" y2="{y:.1f}"/>')
        text = shown_bytes(at) if at else "0"
        lines.append(f'<text x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{text}</text>')
    below = [0] * len(drawn)
    for owner, colour, values in layers:
        above = [a + values[i] for a, i in zip(below, drawn)]
        path = _outline(below, above, dx, dy)
        lines.append(f'<path class="{colour}" d="{path}"><title>{escape(owner)}</title></path>')
        below = above
    lines += [*_hints(memory, drawn, dx), *_peak(memory, drawn, dx)]
    text = f"{len(memory.live.steps)} operations, in order"
    lines.append(f'<text x="{_LEFT}" y="{_HEIGHT + 24}">{text}</text></svg>')
    return "\n".join(lines)


def _outline(below: Sequence[int], above: Sequence[int], dx: float, dy: float) -> str:
    """The area between two staircases, each corner once."""

    def stairs(values: Sequence[int], order: Sequence[int], back: bool) -> Iterator[str]:
        for i in order:
            y = _HEIGHT - values[i] * dy
            ends = (i + 1, i) if back else (i, i + 1)
            yield from (f"{_LEFT + e * dx:.1f},{y:.1f}" for e in ends)

    there = stairs(above, range(len(above)), False)
    back = stairs(below, range(len(below) - 1, -1, -1), True)
    return f"M{' '.join([*there, *back])}Z"


def _hints(memory: Memory, drawn: Sequence[int], dx: float) -> Iterator[str]:
    """The operation of each step, shown at the mouse pointer."""
    steps, timeline = memory.live.steps, memory.live.timeline
    for i, at in enumerate(drawn):
        step = steps[at]
        inside = f" in {', '.join(step.loops)}" if step.loops else ""
        text = f"{at + 1}: {step.operation}{inside} at {source_text(step.source)}"
        yield (
            f'<rect class="step" x="{_LEFT + i * dx:.2f}" y="20" width="{dx:.2f}" '
            f'height="{_HEIGHT - 20}"><title>{escape(text)}\n{shown_bytes(timeline[at])}</title>'
            "</rect>"
        )


def _peak(memory: Memory, drawn: Sequence[int], dx: float) -> Iterator[str]:
    x = _LEFT + (drawn.index(memory.live.peak_at) + 0.5) * dx
    anchor = "end" if x > 0.8 * _WIDTH else "start"
    yield f'<line class="peak" x1="{x:.1f}" x2="{x:.1f}" y1="14" y2="{_HEIGHT}"/>'
    text = f"peak {shown_bytes(memory.peak)}"
    yield f'<text class="peaked" x="{x:.1f}" y="11" text-anchor="{anchor}">{text}</text>'


def _owners(memory: Memory, colours: dict[str, str]) -> str:
    lines = [
        [
            f"{shown_bytes(o.nbytes)}<small>{o.nbytes / (memory.peak or 1):.0%}</small>",
            f'<i class="{colours.get(o.location, REST)}"></i>'
            f'<span class="code">{escape(o.location)}</span>',
            f'<span class="code">{escape(o.what)}</span>',
            f"<code>{escape(o.code)}</code>",
        ]
        for o in memory.owners
    ]
    return table_of(["bytes", "owner", "what", "line"], lines, (0,))
