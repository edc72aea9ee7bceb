"""Environment variables: those that begin with DOVETAIL_, and the words for true and false."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

PREFIX = "DOVETAIL_"

_WORDS = {
    **dict.fromkeys(("1", "true", "t", "yes", "y", "on"), True),
    **dict.fromkeys(("0", "false", "f", "no", "n", "off", ""), False),
}


def as_bool(value: Any) -> bool:
    """A boolean option's value: a bool, or the words that environments use.

    Raises:
        ValueError: anything else.
    """
    if isinstance(value, bool):
        return value
    word = str(value).strip().lower()
    if word in _WORDS:
        return _WORDS[word]
    raise ValueError(f"expected a boolean (or 1, true, yes, on, 0, false, no, off), got {value!r}")


def one_of(choices: Sequence[str]) -> Callable[[Any], str]:
    """The check of an option that has one of several names as its value.

    The check raises ValueError for anything else, and names the choices.
    """

    def check(value: Any) -> str:
        if value not in choices:
            raise ValueError(f"expected one of {', '.join(map(repr, choices))}, got {value!r}")
        return value

    return check


def variable(name: str) -> str:
    """The environment variable of a setting: ``DOVETAIL_ENABLE_CHECKS`` of ``enable_checks``."""
    return PREFIX + name.upper()


def flag(name: str) -> bool:
    """Return whether the environment variable of a setting is true; False where it is not set.

    Raises:
        ValueError: the variable is set to something else than a boolean.
    """
    try:
        return as_bool(os.environ.get(variable(name), ""))
    except ValueError as e:
        raise ValueError(f"environment variable {variable(name)}: {e}") from None


def listed(name: str) -> list[str]:
    """The names, separated by commas, that the environment gives a setting."""
    given = os.environ.get(variable(name), "").split(",")
    return [n.strip() for n in given if n.strip()]


def settings() -> dict[str, str]:
    """The environment variables that are Dovetail's."""
    # Items would decode all values, and this is asked around every import of a plugin's module.
    return {k: os.environ[k] for k in [*os.environ] if k.startswith(PREFIX)}


_OWN = ("plugins", "disable_plugins", "strict", "test_full", "runtime_tracebacks")


def unknown_settings(
    options: Sequence[str], plugins: Sequence[str], is_complete: bool
) -> Iterator[str]:
    """The problem of each environment variable, and of each plugin's name in one, that does not
    exist and so is probably misspelt, with the nearest name that exists.

    Args:
        options: the settings that there are.
        plugins: the names of the plugins that there are.
        is_complete: False if a plugin whose manifest could not be read may have further settings.
    """
    known = [variable(n) for n in (*_OWN, *options)]
    for name in sorted(settings()):
        hint = _nearest(name, known, PREFIX)
        if name not in known and (hint or is_complete):
            yield f"the environment sets {name}, which is no setting of Dovetail{hint or '.'}"
    for setting in ("plugins", "disable_plugins"):
        for name in listed(setting):
            if name not in (*plugins, "none"):
                hint = _nearest(name, plugins) or f"; installed: {', '.join(plugins) or 'none'}."
                yield f"{variable(setting)} names {name!r}, and no plugin is called so{hint}"


def _nearest(name: str, known: Iterable[str], prefix: str = "") -> str:
    from difflib import get_close_matches

    short = [k.removeprefix(prefix) for k in known]
    close = get_close_matches(name.removeprefix(prefix), short, 1, 0.7)
    return f": did you mean {prefix}{close[0]}?" if close else ""
