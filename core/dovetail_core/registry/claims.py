"""Who has a name that several plugins claim.

What the kernel and the distribution ``dovetail`` define is theirs: another plugin's entry of that
name is set aside. Of others nobody has the name; to use it is an error, and nothing else is.
A table's name begins with that of a plugin of its own distribution, if with that of any.
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


def settle_claims(found: Registry) -> None:
    """Take entries out of manifests that belong to others, with a notice, and note clashes."""
    owners = {(kind, n): "" for kind, names in KERNEL_CLAIMS.items() for n in names}
    foreign: dict[tuple[str, str], str] = {}
    for name, manifest in found.ranked():
        lost: dict[str, set[str]] = {}
        for kind in _KINDS:
            for entry in getattr(manifest, kind):
                is_new = kind == "tables" and (kind, entry) not in owners
                if is_new and (text := _foreign_prefix(found, entry, name)):
                    lost.setdefault(kind, set()).add(entry)
                    found.notices.append((text, " Until then nobody has it."))
                    foreign[kind, entry] = text
                    continue
                owner = owners.setdefault((kind, entry), name)
                if owner == name:
                    continue
                text = _text(found, kind, entry, owner, name)
                if not owner or found.plugins[owner].is_standard:
                    lost.setdefault(kind, set()).add(entry)
                    found.notices.append((text, " The first of them has it."))
                else:
                    found.clashes[kind, entry] = text
        if lost:
            found.plugins[name].manifest = _without(manifest, lost)
    found.clashes.update({key: text for key, text in foreign.items() if key not in owners})


def _foreign_prefix(found: Registry, table: str, name: str) -> str:
    """What is wrong with a table whose name begins with that of another distribution's plugin."""
    prefix, _, rest = table.partition(".")
    plugin, other = found.plugins[name], found.plugins.get(prefix)
    if not rest or other is None or other.distribution == plugin.distribution:
        return ""
    return (
        f"tables entry {table!r} of {plugin.whose} begins with the name of {other.whose}, whose "
        f"tables have such names. Call it {f'{name}.{rest}'!r}."
    )


def _text(found: Registry, kind: str, entry: str, owner: str, name: str) -> str:
    first = found.plugins[owner].whose if owner else "the kernel"
    return (
        f"{kind} entry {entry!r} is claimed by {first} and by {found.plugins[name].whose}. Disable "
        "one of the plugins (DOVETAIL_DISABLE_PLUGINS) or rename the entry."
    )


def _without(manifest: Manifest, lost: Mapping[str, set[str]]) -> Manifest:
    changes: dict[str, Any] = {
        kind: {n: t for n, t in getattr(manifest, kind).items() if n not in names}
        for kind, names in lost.items()
    }
    return replace(manifest, **changes)
