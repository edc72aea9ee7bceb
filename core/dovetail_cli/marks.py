"""The display of kinds of rules: a mark, a word, a colour."""

from __future__ import annotations

from typing import NamedTuple

from . import rules
from .render import can_print, style


class Mark(NamedTuple):
    """The display of one kind of rule: a character, one in ASCII, a description, a colour or ""."""

    fancy: str
    plain: str
    meaning: str
    colour: str = ""


MARKS = {
    rules.DECLARED: Mark("●", "D", "declared"),
    rules.OVERRIDE: Mark("◆", "O", "declared to override another", "yellow"),
    rules.DERIVED: Mark("○", "d", "derived (regions, decomposition)", "green"),
    rules.EMPTY: Mark("·", ".", "none, none needed", "dim"),
    rules.HOLE: Mark("✗", "-", "hole", "red"),
    rules.BROKEN: Mark("!", "!", "deriving fails", "red"),
}


def mark(kind: str) -> str:
    """The character of a kind of rule, in ASCII if the output cannot print the other one."""
    fancy = can_print("".join(m.fancy for m in MARKS.values()))
    return MARKS[kind].fancy if fancy else MARKS[kind].plain


def coloured(text: str, kind: str) -> str:
    """A text in the colour of a kind of rule."""
    return style(text, MARKS[kind].colour) if MARKS[kind].colour else text
