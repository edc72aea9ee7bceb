"""Environment variables and plugins' names in them that do not exist: probably misspelt."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dovetail_base.environment import PREFIX, listed, settings, variable

from .claims import KERNEL_CLAIMS
from .plugins import Registry

_OWN = ("plugins", "disable_plugins", "strict", "test_full", "runtime_tracebacks")


def unknown_settings(result: Registry) -> Iterator[str]:
    """The problem of each of them, with the nearest name that exists."""
    manifests = [p.manifest for p in result.plugins.values()]
    theirs = [n for m in manifests if m for n in (*m.options, *m.variables)]
    known = [variable(n) for n in (*_OWN, *KERNEL_CLAIMS["options"], *theirs)]
    for name in sorted(settings()):
        hint = _nearest(name, known, PREFIX)
        # A plugin whose manifest was not read may have an option of that name.
        if name not in known and (hint or None not in manifests):
            yield f"the environment sets {name}, which is no setting of Dovetail{hint or '.'}"
    names = [p.name for p in result.plugins.values()]
    for setting in ("plugins", "disable_plugins"):
        for name in listed(setting):
            if name not in (*names, "none"):
                hint = _nearest(name, names) or f"; installed: {', '.join(names) or 'none'}."
                yield f"{variable(setting)} names {name!r}, and no plugin is called so{hint}"


def _nearest(name: str, known: Iterable[str], prefix: str = "") -> str:
    from difflib import get_close_matches

    short = [k.removeprefix(prefix) for k in known]
    close = get_close_matches(name.removeprefix(prefix), short, 1, 0.7)
    return f": did you mean {prefix}{close[0]}?" if close else ""
