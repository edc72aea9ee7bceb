"""``dovetail plugins``: the installed plugins, their states and contributions."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterable

from dovetail_base.errors import RegistryError
from dovetail_core import Manifest, discovery, registry

from .render import count, fields, style, table

help = "list installed plugins, their state and what they contribute"


def configure(parser: ArgumentParser) -> None:
    """Add the arguments: names of plugins to show in full."""
    parser.add_argument("name", nargs="*", help="show these plugins in full")


def run(args: Namespace) -> int:
    """Print the table, or the plugins asked for; returns 1 if any is set aside."""
    result = registry().plugins
    unknown = [n for n in args.name if n not in result]
    if unknown:
        raise RegistryError(
            f"no plugin is called {unknown[0]!r}; installed: {', '.join(result) or 'none'}"
        )
    chosen = [result[n] for n in args.name] or list(result.values())
    if args.name:
        print("\n\n".join(map(_in_full, chosen)))
    elif chosen:
        print(_overview(chosen))
    else:
        print("No plugins are installed. The standard ones come with: pip install dovetail")
    broken = [p for p in chosen if p.problem and not p.problem.startswith("disabled")]
    return int(bool(broken))


def _overview(plugins: list[discovery.Plugin]) -> str:
    header = ["plugin", "version", "distribution", "state", "loaded in", "contributes"]
    rows = [
        [p.name, p.version, p.distribution, state(p), _milliseconds(p), _contributes(p.manifest)]
        for p in plugins
    ]
    styles = [["bold", "", "", _colour(p), "dim", ""] for p in plugins]
    disabled = [(p.name, p.problem) for p in plugins if p.problem]
    notes = f"\n\n{style('Not active', 'bold')}\n{fields(disabled)}" if disabled else ""
    return table(header, rows, styles) + notes


def state(plugin: discovery.Plugin) -> str:
    """``active``, ``disabled`` or ``set aside``."""
    if not plugin.problem:
        return "active"
    return "disabled" if plugin.problem.startswith("disabled") else "set aside"


def _colour(plugin: discovery.Plugin) -> str:
    return {"active": "green", "disabled": "yellow", "set aside": "red"}[state(plugin)]


def _milliseconds(plugin: discovery.Plugin) -> str:
    return f"{plugin.seconds * 1e3:.1f} ms" if plugin.seconds else "-"


def _contributes(manifest: Manifest | None) -> str:
    if manifest is None:
        return "-"
    m = manifest
    counts = [
        ("name", len(m.names)),
        ("surface", len(m.surfaces)),
        ("module of primitives", len(m.primitives)),
        ("table", len(m.tables)),
        ("backend", len(m.backends)),
        ("pass", len(m.passes)),
        ("option", len(m.options)),
        ("command", len(m.commands)),
        ("member", len(m.members)),
    ]
    parts = [_plural(n, noun) for noun, n in counts if n]
    if m.contributes:
        parts.append(f"rules in {count(len(m.contributes), 'table')}")
    return ", ".join([*parts, *(["hooks"] if m.hooks else [])]) or "nothing"


def _plural(n: int, noun: str) -> str:
    irregular = {"module of primitives": "modules of primitives", "pass": "passes"}
    return f"{n} {irregular.get(noun, noun + 's')}" if n != 1 else f"1 {noun}"


def _in_full(plugin: discovery.Plugin) -> str:
    pairs = [
        ("from", f"{plugin.distribution} {plugin.version} ({plugin.target})"),
        ("state", plugin.problem or f"active, loaded in {_milliseconds(plugin)}"),
    ]
    m = plugin.manifest
    if m is not None:
        low, high = m.api
        lists: list[tuple[str, Iterable[str]]] = [
            ("kernel API", [f"{low} to {high}"]),
            ("requires", m.requires),
            ("names", m.names),
            ("surfaces", m.surfaces),
            ("primitives in", m.primitives),
            ("tables", m.tables),
            ("rules for", m.contributes),
            ("types in", m.types),
            ("provides", m.providers),
            ("backends", m.backends),
            ("passes", m.passes),
            ("options", m.options),
            ("commands", m.commands),
            ("samples in", m.samples),
            ("laws of", m.laws),
            ("hooks in", [m.hooks] if m.hooks else []),
        ]
        pairs += [(name, ", ".join(items)) for name, items in lists if items]
    return f"{style(plugin.name, 'bold')}\n{fields(pairs)}"
