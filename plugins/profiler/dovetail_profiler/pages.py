"""HTML pages without other files, and the axes of their pictures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from math import floor, log10
from pathlib import Path

_STYLE = Path(__file__).with_name("page.css")
COLOURS = [f"c{i}" for i in range(8)]
"""The classes of as many colours, for bars and areas."""
REST = "rest"


def document(title: str, body: Iterable[str]) -> str:
    """A page of HTML; ``body`` is HTML, ``title`` text."""
    return "\n".join(
        [
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{escape(title)}</title>\n<style>\n{_STYLE.read_text('utf-8')}</style>",
            f"</head>\n<body>\n<h1>{escape(title)}</h1>",
            *body,
            "</body>\n</html>\n",
        ]
    )


def table_of(header: Sequence[str], lines: Iterable[Sequence[str]], numbers: Sequence[int]) -> str:
    """A table of cells of HTML; ``numbers`` are the columns that are aligned at the right."""

    def row(tag: str, cells: Sequence[str]) -> str:
        style = [' class="number"' if i in numbers else "" for i in range(len(cells))]
        return "".join(f"<{tag}{s}>{cell}</{tag}>" for s, cell in zip(style, cells))

    shown = [row("th", [escape(h) for h in header]), *[row("td", line) for line in lines]]
    rows = "\n".join(f"<tr>{line}</tr>" for line in shown)
    return f'<div class="scroll"><table>\n{rows}\n</table></div>'


def legend(items: Iterable[tuple[str, str]]) -> str:
    """The legend of a picture, from pairs of a class and a text."""
    shown = "".join(f'<li><i class="{c}"></i>{escape(text)}</li>' for c, text in items)
    return f'<ul class="legend">{shown}</ul>'


def ticks(most: float, about: int = 5) -> Iterator[float]:
    """Round numbers from 0 to ``most``, approximately ``about`` of them."""
    if most <= 0:
        return
    raw = most / about
    scale = 10 ** floor(log10(raw))
    step = next((s * scale for s in (1, 2, 5) if s * scale >= raw), 10 * scale)
    for i in range(int(most / step) + 1):
        yield i * step
