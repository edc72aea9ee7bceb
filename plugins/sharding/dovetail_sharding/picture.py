"""Pictures of where the parts of arrays are, with matplotlib."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from colorsys import hsv_to_rgb
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
