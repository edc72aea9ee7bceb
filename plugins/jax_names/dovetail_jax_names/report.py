"""The use that a program makes of JAX's names, as text."""

from __future__ import annotations

from collections.abc import Mapping

from .absence import reason
from .usage import usage


def usage_report() -> str:
    """The report of ``dovetail run --report``."""
    if not usage:
        return "dovetail: all that was asked of jax is there, by public names"
    sections = (
        ("missing names of jax", {n: f"{p}  {_why(n)}" for n, p in usage.missing_names.items()}),
        ("private modules of jax, emulated", usage.private_modules),
        ("options of jax without effect here", usage.idle_options),
    )
    return "\n".join(text for title, result in sections if (text := _section(title, result)))


def _why(name: str) -> str:
    module, _, last = name.rpartition(".")
    return reason(module, last)


def _section(title: str, result: Mapping[str, str]) -> str:
    if not result:
        return ""
    width = max(map(len, result))
    lines = (f"  {name:<{width}}  {where}" for name, where in sorted(result.items()))
    return "\n".join([f"dovetail: {title}", *lines])
