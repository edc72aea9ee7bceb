"""Conflicts of names that several plugins claim.

Names that the kernel and the distribution ``dovetail`` define are theirs: another plugin's entry of
such a name is set aside. If other plugins claim one name, none has it, and only its use is an
error. A table's name may begin with a plugin's name only if that plugin is of its own distribution.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from .manifest import Manifest
from .plugins import KERNEL_TABLES, Registry

KERNEL_CLAIMS = {
    "tables": tuple(KERNEL_TABLES),
    "options": ("enable_x64", "disable_jit", "enable_checks", "check_tracer_leaks"),
    "commands": ("new", "plugins", "matrix", "explain", "doctor"),
}
_KINDS = (
    "names", "surfaces", "tables", "providers", "backends", "passes", "options", "commands", "laws",
    "members",
)  # fmt: skip


def settle_claims(result: Registry) -> None:
    """Remove entries that belong to others from manifests, with a notice, and record conflicts."""
    owners = {(kind, n): "" for kind, names in KERNEL_CLAIMS.items() for n in names}
    foreign: dict[tuple[str, str], str] = {}
    for name, manifest in result.ranked():
        lost: dict[str, set[str]] = {}
        for kind in _KINDS:
            for entry in getattr(manifest, kind):
                is_new = kind == "tables" and (kind, entry) not in owners
                if is_new and (text := _foreign_prefix(result, entry, name)):
                    lost.setdefault(kind, set()).add(entry)
                    result.notices.append((text, " Until then nobody has it."))
                    foreign[kind, entry] = text
                    continue
                owner = owners.setdefault((kind, entry), name)
                if owner == name:
                    continue
                text = _text(result, kind, entry, owner, name)
                if not owner or result.plugins[owner].is_standard:
                    lost.setdefault(kind, set()).add(entry)
                    result.notices.append((text, " The first of them has it."))
                else:
                    result.clashes[kind, entry] = text
        if lost:
            result.plugins[name].manifest = _without(manifest, lost)
    result.clashes.update({key: text for key, text in foreign.items() if key not in owners})


def _foreign_prefix(result: Registry, table: str, name: str) -> str:
    """The problem of a table whose name begins with that of another distribution's plugin; empty
    for other tables."""
    prefix, _, rest = table.partition(".")
    plugin, other = result.plugins[name], result.plugins.get(prefix)
    if not rest or other is None or other.distribution == plugin.distribution:
        return ""
    return (
        f"tables entry {table!r} of {plugin.whose} begins with the name of {other.whose}, whose "
        f"tables have such names. Call it {f'{name}.{rest}'!r}."
    )


def _text(result: Registry, kind: str, entry: str, owner: str, name: str) -> str:
    first = result.plugins[owner].whose if owner else "the kernel"
    return (
        f"{kind} entry {entry!r} is claimed by {first} and by {result.plugins[name].whose}. "
        "Disable one of the plugins (DOVETAIL_DISABLE_PLUGINS) or rename the entry."
    )


def _without(manifest: Manifest, lost: Mapping[str, set[str]]) -> Manifest:
    changes: dict[str, Any] = {
        kind: {n: t for n, t in getattr(manifest, kind).items() if n not in names}
        for kind, names in lost.items()
    }
    return replace(manifest, **changes)
