"""Text for terminals: aligned tables, wrapped paragraphs, colours."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from collections.abc import Sequence
from itertools import zip_longest

_CODES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33"}


def style(text: str, name: str) -> str:
    """``text`` in a colour, if the output is a terminal (and NO_COLOR is not set)."""
    plain = not sys.stdout.isatty() or "NO_COLOR" in os.environ
    return text if plain or not text else f"\x1b[{_CODES[name]}m{text}\x1b[0m"


def can_print(characters: str) -> bool:
    """Return whether the output's encoding has these characters."""
    try:
        characters.encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return False
    return True


def table(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    styles: Sequence[Sequence[str]] = (),
    indent: str | None = None,
) -> str:
    """Left-aligned columns; ``styles`` may name a style for each cell ("" for none).

    With an ``indent`` the table is indented, and texts of the last column are wrapped at the
    terminal's width.
    """
    columns = list(zip_longest(header, *rows, fillvalue=""))
    widths = [max(map(len, column)) for column in columns]
    lead = sum(widths[:-1]) + 2 * (len(widths) - 1)
    lines = [style("  ".join(h.ljust(w) for h, w in zip(header, widths)).rstrip(), "bold")]
    for i, row in enumerate(rows):
        names = styles[i] if i < len(styles) else ()
        texts = [row[-1]]
        if indent is not None:
            texts = _wrapped(row[-1], _room(len(indent) + lead)) or [""]
        padded = [(cell, " " * (w - len(cell))) for cell, w in zip([*row[:-1], texts[0]], widths)]
        cells = [
            (style(cell, name) if name else cell) + padding
            for (cell, padding), name in zip_longest(padded, names[: len(padded)], fillvalue="")
        ]
        lines.append("  ".join(cells).rstrip())
        lines += [" " * lead + text for text in texts[1:]]
    return "\n".join(f"{indent or ''}{line}" for line in lines)


def shortened(text: str, width: int = 90) -> str:
    """A text, cut off with dots if it is longer than ``width``."""
    return text if len(text) <= width else f"{text[: width - 3]}..."


def fields(pairs: Sequence[tuple[str, str]], indent: str = "  ") -> str:
    """Named paragraphs, names in one column; line ends in a text are kept."""
    name_width = max((len(name) for name, _ in pairs), default=0)
    width = _room(len(indent) + name_width + 2)
    lines: list[str] = []
    for name, text in pairs:
        parts = [w for line in text.split("\n") for w in (_wrapped(line, width) or [""])]
        for i, part in enumerate(parts or [""]):
            label = style(name.ljust(name_width), "dim") if i == 0 else " " * name_width
            lines.append(f"{indent}{label}  {part}".rstrip())
    return "\n".join(lines)


def _room(taken: int) -> int:
    """The number of characters of a line that are left for a text, at least 40."""
    return max(40, shutil.get_terminal_size((100, 24)).columns - taken)


def _wrapped(line: str, width: int) -> list[str]:
    lead = line[: len(line) - len(line.lstrip())]
    return textwrap.wrap(
        line, width, subsequent_indent=lead, break_long_words=False, break_on_hyphens=False
    )


def count(n: int, noun: str) -> str:
    """``1 name``, ``2 names``."""
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"
