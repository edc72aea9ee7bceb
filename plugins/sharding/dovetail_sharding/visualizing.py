"""Pictures of where the parts of arrays are, in text or drawn: ``visualize_array_sharding``."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import Any

from dovetail_base.source import here

from .picture import draw, pastel

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
        sharding: where it is.
        use_color: whether parts are coloured, where the output is a terminal and the package
            ``rich`` is installed.
        scale: how large the picture is. min_width, max_width: characters of a part, of all.
        color_map: a function from a fraction to red, green and blue, each from 0 to 1.
        plot: draw with matplotlib in place of printing, and return the axes: axes to draw into;
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
    """What is written into each part: the devices that have it."""
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
    """Backgrounds, where there is somebody to see them."""
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
