"""Pages for a browser that need nothing else, and the axes of their pictures."""

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
    heads = "".join(f"<th>{escape(h)}</th>" for h in header)
    rows = [
        "<tr>"
        + "".join(
            f'<td class="number">{cell}</td>' if i in numbers else f"<td>{cell}</td>"
            for i, cell in enumerate(line)
        )
        + "</tr>"
        for line in lines
    ]
    return f'<div class="scroll"><table>\n<tr>{heads}</tr>\n{chr(10).join(rows)}\n</table></div>'


def legend(items: Iterable[tuple[str, str]]) -> str:
    """What colours mean: pairs of a class and a text."""
    shown = "".join(f'<li><i class="{c}"></i>{escape(text)}</li>' for c, text in items)
    return f'<ul class="legend">{shown}</ul>'


def ticks(most: float, about: int = 5) -> Iterator[float]:
    """Round numbers from 0 to ``most``, about so many."""
    if most <= 0:
        return
    raw = most / about
    scale = 10 ** floor(log10(raw))
    step = next((s * scale for s in (1, 2, 5) if s * scale >= raw), 10 * scale)
    for i in range(int(most / step) + 1):
        yield i * step
