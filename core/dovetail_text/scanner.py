"""Reading text from left to right, with errors that name line, column and what was expected."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from typing import NoReturn, TypeVar

from dovetail_base.errors import IRError

T = TypeVar("T")

NAME = re.compile(r"[A-Za-z_]\w*(?:\.\w+)*")
PRIMITIVE = re.compile(r"[A-Za-z_]\w*(?:[.-]\w+)*")
VARIABLE = re.compile(r"(?!(?:in|let|lambda)\b)[A-Za-z_]\w*")
STRING = re.compile(r"b?(?:'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\")")
_space = re.compile(r"\s*")
_blank = re.compile(r"[ \t]*")


class Scanner:
    """A text and the index that has been reached in it."""

    __slots__ = ("text", "at")

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def skip(self) -> None:
        """Pass over white space and line ends."""
        self.at = _space.match(self.text, self.at).end()  # type: ignore[union-attr]

    def looking_at(self, symbol: str) -> bool:
        """Return whether ``symbol`` comes next, after any white space."""
        self.skip()
        return self.text.startswith(symbol, self.at)

    def accept(self, symbol: str) -> bool:
        """Pass over ``symbol`` if it comes next."""
        if self.looking_at(symbol):
            self.at += len(symbol)
            return True
        return False

    def expect(self, symbol: str) -> None:
        """Pass over ``symbol``, which must come next."""
        if not self.accept(symbol):
            self.fail(repr(symbol))

    def match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Pass over what ``pattern`` matches, after any white space."""
        self.skip()
        result = pattern.match(self.text, self.at)
        if result is not None:
            self.at = result.end()
        return result

    def take(self, pattern: re.Pattern[str], what: str) -> str:
        """Pass over ``pattern``, which must come next."""
        result = self.match(pattern)
        return result[0] if result is not None else self.fail(what)

    def keyword(self, word: str) -> bool:
        """Pass over ``word`` if it comes next as a whole word."""
        self.skip()
        result = NAME.match(self.text, self.at)
        if result is not None and result[0] == word:
            self.at = result.end()
            return True
        return False

    def string(self) -> str:
        """The value of the quoted string that must come next."""
        return ast.literal_eval(self.take(STRING, "a quoted string"))

    def line_ends(self) -> bool:
        """Return whether the line ends here, after any blanks (a ``;`` ends one, too)."""
        self.at = _blank.match(self.text, self.at).end()  # type: ignore[union-attr]
        return self.at >= len(self.text) or self.text[self.at] in "\r\n;"

    def separated(self, close: str, item: Callable[[], T]) -> list[T]:
        """Items with commas between them (and perhaps after the last), up to ``close``."""
        items: list[T] = []
        while not self.accept(close):
            items.append(item())
            if not self.looking_at(close):
                self.expect(",")
        return items

    def fail(self, expected: str, at: int | None = None) -> NoReturn:
        """Raise an IRError: ``expected`` should come next (or stand at ``at``)."""
        self.skip()
        start = self.at if at is None else at
        result = repr(re.match(r"\S{0,20}", self.text[start:])[0])  # type: ignore[index]
        what = result if result != "''" else "the end of the text"
        self.error(f"expected {expected}, found {what}", start)

    def error(self, message: str, at: int | None = None) -> NoReturn:
        """Raise an IRError with the line, the column and the line's text."""
        start = self.at if at is None else at
        line = self.text.count("\n", 0, start) + 1
        begin = self.text.rfind("\n", 0, start) + 1
        shown = self.text[begin:].split("\n", 1)[0]
        lead = max(0, start - begin - 60)  # of a long line, the part around the error
        raise IRError(
            f"line {line}, column {start - begin + 1}: {message}\n"
            f"    {shown[lead : lead + 100]}\n    {' ' * (start - begin - lead)}^"
        )
