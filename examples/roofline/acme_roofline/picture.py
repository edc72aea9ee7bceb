"""The picture of a report: the roof, the lines of the program under it, and the time they take."""

from __future__ import annotations

from collections.abc import Sequence
from math import hypot, log10
from typing import Any

from .entry import Entry
from .machine import Machine

COLOURS = {"memory": "#2a6fb0", "compute": "#d1495b"}
SHOWN = 12


def draw(machine: Machine, entries: Sequence[Entry], file: str | None = None) -> Any:
    """The first of some lines as numbered dots, on the roof or hanging below the place where
    they lie (their area is their share of the time), and beside them what they are."""
    try:
        from matplotlib.figure import Figure
    except ImportError as e:
        raise ImportError(
            "the picture of a roofline needs matplotlib: pip install 'dovetail-roofline[picture]'"
        ) from e

    lines = [e for e in entries if 0 < e.intensity < float("inf")][:SHOWN]
    figure = Figure(figsize=(13, 5), layout="constrained")
    roof, bars = figure.subplots(1, 2, width_ratios=(1.2, 1))
    seconds = sum(e.seconds for e in entries)
    _draw_roof(roof, machine, lines, seconds)
    _draw_bars(bars, lines, seconds)
    if file is not None:
        figure.savefig(file, dpi=110)
    return figure


def _draw_roof(axes: Any, m: Machine, lines: list[Entry], seconds: float) -> None:
    all_intensities = [m.ridge, *(e.intensity for e in lines)]
    left, right = min(all_intensities) / 3, max(all_intensities) * 5
    low, high = m.attainable(left) / 8, m.flops * 4
    for bound, ends in {"memory": (left, m.ridge), "compute": (m.ridge, right)}.items():
        axes.plot(ends, [m.attainable(x) for x in ends], color=COLOURS[bound], lw=2.5)
    axes.axvline(m.ridge, color="0.8", lw=1, ls=":", zorder=0)
    spots = _spots(m, lines, seconds, (left, right), (low, high))
    for number, (e, y) in enumerate(zip(lines, spots), 1):
        top, colour = m.attainable(e.intensity), COLOURS[e.bound]
        area = 150 + 1500 * e.seconds / seconds
        axes.plot([e.intensity] * 2, [y, top], color=colour, lw=0.8, alpha=0.6, zorder=1)
        axes.plot(e.intensity, top, ".", color=colour, ms=5)
        axes.scatter(e.intensity, y, s=area, color=colour, alpha=0.85, edgecolor="white", zorder=3)
        axes.annotate(number, (e.intensity, y), color="white", size=8, ha="center", va="center")
    axes.set(xscale="log", yscale="log", xlim=(left, right), ylim=(low, high))
    axes.set(xlabel="arithmetic intensity, flop / byte", ylabel="attainable flop / s")
    note = "a dot's area is its share of the time; one that hangs lies on the roof above it"
    axes.text(0.99, 0.02, note, transform=axes.transAxes, size=7, color="0.5", ha="right")
    axes.set_title(str(m), size=10, loc="left")
    axes.grid(color="0.93", zorder=-1)
    axes.spines[["top", "right"]].set_visible(False)


def _spots(m: Machine, lines: list[Entry], seconds: float, xs: Any, ys: Any) -> list[float]:
    """The height of each dot: the roof's, or as far below as leaves room for those before it."""
    wide, tall = (log10(end / start) for start, end in (xs, ys))
    placed: list[tuple[float, float, float]] = []
    found: list[float] = []
    for e in lines:
        x, y = log10(e.intensity) / wide, log10(m.attainable(e.intensity)) / tall
        radius = 0.018 + 0.035 * (e.seconds / seconds) ** 0.5
        while any(hypot(x - a, 0.75 * (y - b)) < radius + r for a, b, r in placed):
            y -= 0.01
        placed.append((x, y, radius))
        found.append(10 ** (y * tall))
    return found


def _draw_bars(axes: Any, lines: list[Entry], seconds: float) -> None:
    shares = [e.seconds / seconds for e in lines]
    axes.barh(range(len(lines)), shares, 0.34, color=[COLOURS[e.bound] for e in lines])
    for i, (e, share) in enumerate(zip(lines, shares)):
        code = e.code if len(e.code) < 66 else f"{e.code[:64]}…"
        axes.text(0, i - 0.3, f"{i + 1}  {code}", size=8, family="monospace", va="bottom")
        facts = f" {share:.0%}  {e.intensity:.3g} flop/B, {e.bound}  {e.place}"
        axes.text(share, i, facts, size=7, color="0.35", va="center")
    axes.set(ylim=(len(lines) - 0.5, -1), xlim=(0, 1.75 * max(shares, default=1)))
    axes.set_title(f"at least {seconds * 1e6:.3g} µs, of which", size=10, loc="left")
    axes.axis("off")
