"""Pictures of where the parts of arrays are, in text or drawn: ``visualize_array_sharding``."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from colorsys import hsv_to_rgb
from importlib.util import find_spec
from typing import Any

from dovetail_base.source import here

Color = tuple[float, ...]
LIGHT = 0.5
"""Texts are white on colours that are darker."""


def pastel(x: float) -> Color:
    """Red, green and blue of a fraction of all parts."""
    return hsv_to_rgb(0.83 * x, 0.5, 0.85)


def draw(
    held: Mapping[Any, str],
    shape: Sequence[int],
    title: str,
    plot: Any,
    color_map: Callable[[float], Any] | None,
) -> Any:
    """Draw the parts of an array of one or two dimensions; returns the axes.

    Args:
        held: what is written into each part, by its rows and columns.
        plot: axes to draw into; True makes a figure; a file's name makes one and writes it there.

    Raises:
        ImportError: matplotlib is not installed. TypeError: ``plot`` is something else.
    """
    if plot is not True and not isinstance(plot, (str, os.PathLike)) and not hasattr(plot, "text"):
        raise TypeError(
            f"visualize_sharding{here()}: plot is of type {type(plot).__name__}; give True, the "
            "name of a file, or axes of matplotlib."
        )
    ax: Any = plot if hasattr(plot, "text") else _axes(shape)
    choose = color_map or pastel
    for i, ((rows, columns), text) in enumerate(held.items()):
        color = tuple(choose(i / max(len(held), 1)))[:3]
        _cell(ax, rows, columns, text, color)
    high, wide = (shape[0], shape[1]) if len(shape) == 2 else (1, shape[0])
    ax.set_xlim(0, wide)
    ax.set_ylim(high, 0)
    ax.set_xticks(sorted({n for _, c in held for n in (c.start, c.stop)}))
    ax.set_yticks(
        sorted({n for r, _ in held for n in (r.start, r.stop)}) if len(shape) == 2 else []
    )
    ax.set_title(title, fontsize="medium")
    if isinstance(plot, (str, os.PathLike)):
        ax.figure.savefig(plot, dpi=150)
    return ax


def _axes(shape: Sequence[int]) -> Any:
    """Axes of a figure whose sides are about as the array's, neither too long."""
    try:
        from matplotlib.figure import Figure
    except ImportError as e:
        raise ImportError(
            "visualize_sharding with plot draws with matplotlib, which is not installed: pip "
            "install 'dovetail[viz]'. Without plot it prints text."
        ) from e
    if len(shape) == 1:
        size = 6.0, 1.4
    else:
        ratio = min(max(shape[0] / max(shape[1], 1), 0.4), 2.0)
        size = 5.0 / max(ratio, 1.0) + 0.8, 5.0 * min(ratio, 1.0) + 0.8
    return Figure(figsize=size, layout="constrained").subplots()


def _cell(ax: Any, rows: range, columns: range, text: str, color: Color) -> None:
    from matplotlib.patches import Rectangle

    size = len(columns), len(rows)
    ax.add_patch(
        Rectangle((columns.start, rows.start), *size, facecolor=color, edgecolor="white", lw=2)
    )
    bright = 0.3 * color[0] + 0.59 * color[1] + 0.11 * color[2]
    x, y = columns.start + size[0] / 2, rows.start + size[1] / 2
    ax.text(
        x, y, text.replace(" ", "\n", 1), ha="center", va="center", fontsize="small",
        color="black" if bright > LIGHT else "white", clip_on=True,
    )  # fmt: skip


Box = tuple[range, range]
RATIO = 2.5
"""How much higher than wide characters are."""


def visualize_array_sharding(arr: Any, **kwargs: Any) -> Any:
    """Show where the parts of an array are; options as for :func:`visualize_sharding`."""
    return visualize_sharding(arr.shape, arr.sharding, **kwargs)


def visualize_sharding(
    shape: Sequence[int],
    sharding: Any,
    *,
    use_color: bool = True,
    scale: float = 1.0,
    min_width: int = 9,
    max_width: int = 80,
    color_map: Any = None,
    plot: Any = None,
) -> Any:
    """Print, or draw, which devices hold which part of an array of one or two dimensions.

    Args:
        sharding: the sharding of the array.
        use_color: True to colour parts, if the output is a terminal and the package ``rich`` is
            installed.
        scale: the size of the picture. min_width, max_width: characters of a part, of all.
        color_map: a function from a fraction to red, green and blue, each from 0 to 1.
        plot: draw with matplotlib instead of printing, and return the axes: axes to draw into;
            True for a figure of its own; the name of a file to write: ``"placement.png"``.

    Raises:
        ValueError: the array has another number of dimensions.
        ImportError: ``plot`` is given, and matplotlib is not installed.
    """
    shape = tuple(shape)
    if len(shape) not in (1, 2):
        raise ValueError(
            f"visualize_sharding{here()} draws arrays of one and two dimensions, got shape {shape}"
        )
    held = _held(shape, sharding)
    if plot is not None and plot is not False:
        spec = getattr(sharding, "spec", None)
        title = f"{shape}" if spec is None else f"{shape} by {spec}"
        return draw(held, shape, title, plot, color_map)
    rows = sorted({r for r, _ in held}, key=lambda r: r.start)
    columns = sorted({c for _, c in held}, key=lambda c: c.start)
    high, wide = (shape[0], shape[1]) if len(shape) == 2 else (1, shape[0])
    lines = int(10 * scale)
    aspect = wide / max(high, 1) if len(shape) == 2 else 1 / max(wide, 1)
    total = min(int(lines * aspect * RATIO), max_width)
    texts = [[held.get((r, c), "") for c in columns] for r in rows]
    heights = [max(int(lines * len(r) / max(high, 1)) - 1, 1) for r in rows]
    if len(shape) == 1:
        heights = [1]
    widths = [
        max(min_width, int(total * len(c) / max(wide, 1)), *(len(t[k]) + 2 for t in texts)) - 2
        for k, c in enumerate(columns)
    ]
    _show(texts, heights, widths, _colors(len(held), color_map) if use_color else None)
    return None


def _held(shape: tuple[int, ...], sharding: Any) -> dict[Box, str]:
    """The text of each part in the picture: the devices that have it."""
    result: dict[Box, list[Any]] = {}
    for device, index in sharding.devices_indices_map(shape).items():
        spans = [range(n)[s] for n, s in zip(shape, index)]
        box = (range(1), spans[0]) if len(shape) == 1 else (spans[0], spans[1])
        result.setdefault(box, []).append(device)
    return {box: _named(devices) for box, devices in result.items()}


def _named(devices: Sequence[Any]) -> str:
    numbers = ",".join(str(d.id) for d in sorted(devices, key=lambda d: d.id))
    return f"{devices[0].platform.upper()} {numbers}"


def _colors(count: int, color_map: Callable[[float], Any] | None) -> list[str] | None:
    """Background colours; None if the output is no terminal or ``rich`` is not installed."""
    if not sys.stdout.isatty() or find_spec("rich") is None:
        return None
    choose = color_map or pastel
    result = [[int(255 * v) for v in tuple(choose(i / max(count, 1)))[:3]] for i in range(count)]
    return [f"black on rgb({r},{g},{b})" for r, g, b in result]


def _show(
    texts: list[list[str]], heights: list[int], widths: list[int], colors: list[str] | None
) -> None:
    def border(left: str, between: str, right: str) -> list[tuple[str, str]]:
        return [(left + between.join("─" * w for w in widths) + right + "\n", "")]

    pieces = border("┌", "┬", "┐")
    for i, (row, height) in enumerate(zip(texts, heights)):
        pieces += border("├", "┼", "┤") if i else []
        for line in range(height):
            for k, (text, width) in enumerate(zip(row, widths)):
                shown = text if line == height // 2 else ""
                style = colors[(i * len(row) + k) % len(colors)] if colors else ""
                pieces += [("│", ""), (shown.center(width), style)]
            pieces.append(("│\n", ""))
    pieces += border("└", "┴", "┘")
    if colors is None:
        sys.stdout.write("".join(text for text, _ in pieces))
        return
    from rich.console import Console  # pyright: ignore[reportMissingImports]
    from rich.text import Text  # pyright: ignore[reportMissingImports]

    Console().print(Text.assemble(*pieces), end="")  # pyright: ignore
