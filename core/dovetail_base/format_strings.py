"""Checks of format strings against the arguments that they are given, before values are known."""

from __future__ import annotations

from collections.abc import Sequence
from string import Formatter
from typing import Any


def check_format(
    what: str,
    noun: str,
    text: str,
    args: Sequence[Any],
    kwargs: dict[str, Any],
    *,
    names_only: bool = False,
) -> None:
    """Check the replacement fields of ``text``, formatted by ``str.format``; formats nothing.

    Args:
        what: begins messages: the function and the user's line.
        noun: the name of ``text`` in messages (``"format"``).
        names_only: check names of arguments alone, and that all arguments are used; otherwise
            attributes and items of arguments are looked up as well.

    Raises:
        IndexError, KeyError: a field names an argument that is not given.
        ValueError: an argument is not used, or the text is not a format.
    """
    _Checker(what, noun, names_only).vformat(text, args, kwargs)


class _Checker(Formatter):
    def __init__(self, what: str, noun: str, names_only: bool) -> None:
        self.what, self.noun, self.names_only = what, noun, names_only

    def get_value(self, key: int | str, args: Sequence[Any], kwargs: Any) -> Any:
        try:
            return super().get_value(key, args, kwargs)
        except (IndexError, KeyError):
            given = f"{len(args)} positional arguments and {sorted(kwargs)}"
            error = IndexError if isinstance(key, int) else KeyError
            raise error(
                f"{self.what}: the {self.noun} asks for argument {key!r}, but got {given}. "
                "Pass it, or write '{{' for a brace."
            ) from None

    def get_field(self, field_name: str, args: Sequence[Any], kwargs: Any) -> Any:
        if not self.names_only:
            return super().get_field(field_name, args, kwargs)
        first = field_name.split(".")[0].split("[")[0]
        key: int | str = int(first) if first.isdigit() else first
        self.get_value(key, args, kwargs)
        return 0, key

    def format_field(self, value: Any, format_spec: str) -> str:
        return ""

    def convert_field(self, value: Any, conversion: Any) -> Any:
        return value

    def check_unused_args(self, used_args: Any, args: Any, kwargs: Any) -> None:
        unused = [x for x in (*range(len(args)), *kwargs) if x not in used_args]
        if self.names_only and unused:
            raise ValueError(
                f"{self.what}: the {self.noun} does not use argument {unused[0]!r}. Name it in the "
                f"{self.noun}, or do not pass it."
            )
