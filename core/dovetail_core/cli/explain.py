"""``dovetail explain PRIMITIVE TABLE``: where one rule comes from, or how to fill it."""

from __future__ import annotations

import inspect
from argparse import ArgumentParser, Namespace
from typing import Any

from ..dispatch.primitive import Primitive
from ..registry.discovery import distribution_of, registry
from ..rules.tables import Origin, RuleTable
from . import rules
from .find import find_primitive, find_table
from .render import fields, style

help = "say where the rule of a primitive under a table comes from, or how to write it"

_TITLES = {
    rules.DECLARED: "declared",
    rules.OVERRIDE: "declared, overriding another",
    rules.DERIVED: "derived",
    rules.EMPTY: "no rule, and none is needed",
    rules.HOLE: "a hole",
}


def configure(parser: ArgumentParser) -> None:
    """Arguments: the primitive and the table."""
    parser.add_argument("primitive", help="name of a primitive, as sin")
    parser.add_argument("table", help="name of a table, as ad.jvp (or jvp where that is clear)")


def run(args: Namespace) -> int:
    """Print one rule; 1 if it is a hole."""
    name = find_table(args.table)
    primitive, table = find_primitive(args.primitive), rules.load_table(name)
    rule = rules.rule(table, primitive)
    print(style(f"{primitive.name} x {name}: {_TITLES[rule.kind]}", "bold"))
    pairs = [*_origin(rule, table, primitive), ("primitive", _primitive(primitive)), *_table(table)]
    if rule.kind in (rules.HOLE, rules.DERIVED, rules.EMPTY):
        wanted = "to fill it" if rule.kind == rules.HOLE else "to better it"
        pairs.append((wanted, _remedy(table, primitive)))
    print(fields(pairs))
    return int(rule.kind == rules.HOLE)


def _origin(rule: rules.Rule, table: RuleTable[Any], primitive: Primitive) -> list[tuple[str, str]]:
    if rule.kind == rules.EMPTY:
        return [("then", rule.source)]
    if rule.kind == rules.HOLE:
        why = "it has no decomposition" if primitive.decomposition is None else ""
        return [("because", why or "the table cannot derive one from the decomposition")]
    if rule.kind == rules.DERIVED:
        return [("follows from", _derivation(rule, primitive))]
    pairs = [("registered at", _place(rule.origin)), ("rule", _signature(table.rules[primitive]))]
    replaced = rule.origin.replaced if rule.origin else None
    while replaced is not None:
        pairs.append(("in place of", _place(replaced)))
        replaced = replaced.replaced
    return pairs


def _derivation(rule: rules.Rule, primitive: Primitive) -> str:
    if rule.source == "regions":
        return (
            f"the primitive's regions, {_code(primitive.regions)}, and how the table carries values"
        )
    if rule.source == "decomposition":
        return f"the primitive's decomposition, {_code(primitive.decomposition)}"
    return "what the table makes of primitives without a rule"


def _place(origin: Origin | None) -> str:
    return f"{origin}, of {distribution_of(origin.module)}" if origin else "an unknown place"


def _code(function: Any) -> str:
    code = getattr(inspect.unwrap(function), "__code__", None)
    line = f":{code.co_firstlineno}" if code is not None else ""
    return f"{getattr(function, '__module__', '?')}{line}"


def _signature(rule: Any) -> str:
    name: str = getattr(rule, "__qualname__", None) or repr(rule)
    try:
        parameters = inspect.signature(rule).parameters.values()
    except (TypeError, ValueError):
        return name
    stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    return f"{name}({', '.join(stars.get(p.kind, '') + p.name for p in parameters)})"


def _primitive(primitive: Primitive) -> str:
    results = "a list of results" if primitive.multiple_results else "one result"
    parts = [
        part
        for part, has in (
            ("a decomposition", primitive.decomposition),
            ("sub-programs (regions)", primitive.regions),
        )
        if has is not None
    ]
    return (
        f"{primitive.name}, defined in {primitive.module} of {distribution_of(primitive.module)}; "
        f"{', '.join([results, *parts])}"
    )


def _table(table: RuleTable[Any]) -> list[tuple[str, str]]:
    pairs = [
        ("table", f"{table.name}, defined in {table.module} of {distribution_of(table.module)}")
    ]
    if table.signature is not None:
        doc = (inspect.getdoc(table.signature) or "").split("\n\n")
        paragraphs = "\n".join(" ".join(p.split()) for p in doc)
        pairs.append(("a rule is", f"a {table.signature.__name__}: {paragraphs}"))
    target = registry().entries("laws").get(table.name)
    if target or table.law:
        pairs.append(
            ("law", f"{table.law or target}{f' ({target})' if target and table.law else ''}")
        )
    return pairs


def _remedy(table: RuleTable[Any], primitive: Primitive) -> str:
    variable = f"{primitive.name.rpartition('.')[2]}_p"
    owner = table.signature.__name__ if table.signature is not None else "a rule"
    lines = [
        f"@dovetail_core.registry().table({table.name!r}).register({variable})",
        f"def {variable.removesuffix('_p')}_rule(...):  # see {owner}",
        f"in a module that your manifest names: contributes={{{table.name!r}: ('your.module',)}}",
    ]
    if primitive.decomposition is None and primitive.regions is None:
        lines.append(f"or say what it is made of, for every table: @{variable}.def_decomposition")
    return "\n".join(lines)
