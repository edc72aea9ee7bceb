"""``dovetail explain PRIMITIVE [TABLE]``: the facts about a primitive, or one rule's origin."""

from __future__ import annotations

import inspect
from argparse import ArgumentParser, Namespace
from typing import Any

from dovetail_core import Primitive, RuleTable, discovery, registry

from . import rules
from .find import find_primitive, find_table
from .locations import call, code_location, rule_location
from .render import fields, style

help = "say what a primitive is, or where its rule under a table comes from"

_TITLES = {
    rules.DECLARED: "declared",
    rules.OVERRIDE: "declared, overriding another",
    rules.DERIVED: "derived",
    rules.EMPTY: "no rule, and none is needed",
    rules.HOLE: "a hole",
    rules.BROKEN: "deriving it fails",
}


def configure(parser: ArgumentParser) -> None:
    """Add the arguments: the primitive and the table."""
    parser.add_argument("primitive", help="name of a primitive, as sin")
    parser.add_argument(
        "table",
        nargs="?",
        help="name of a table, as ad.jvp (or jvp where that is clear); without: the primitive "
        "itself, its rules in all tables, its samples",
    )


def run(args: Namespace) -> int:
    """Print a primitive, or one rule; returns 1 if the rule is missing, or deriving one fails."""
    if args.table is None:
        from . import primitive_page  # it needs dovetail_testing, which others do without

        return primitive_page.run(find_primitive(args.primitive))
    name = find_table(args.table)
    primitive, table = find_primitive(args.primitive), rules.load_table(name)
    rule = rules.rule(table, primitive)
    print(style(f"{primitive.name} x {name}: {_TITLES[rule.kind]}", "bold"))
    pairs = [
        *_origin(rule, table, primitive),
        *_platforms(rule),
        ("primitive", _primitive(primitive)),
        *_table(table),
    ]
    if rule.kind in (rules.HOLE, rules.DERIVED, rules.EMPTY):
        wanted = "to fill it" if rule.kind == rules.HOLE else "to better it"
        pairs.append((wanted, _remedy(table, primitive)))
    print(fields(pairs))
    return int(rule.kind in (rules.HOLE, rules.BROKEN))


def _origin(rule: rules.Rule, table: RuleTable[Any], primitive: Primitive) -> list[tuple[str, str]]:
    if rule.kind == rules.EMPTY:
        return [("then", rule.source)]
    if rule.kind == rules.HOLE:
        why = "it has no decomposition" if primitive.decomposition is None else ""
        return [("because", why or "the table cannot derive one from the decomposition")]
    if rule.kind == rules.BROKEN:
        return [("because", rule.source)]
    if rule.kind == rules.DERIVED:
        return [("follows from", _derivation(rule, primitive))]
    if rule.source == "platforms":
        return []
    where = rule_location(rule.origin) if rule.origin else "the primitive, which carries its rule"
    pairs = [("registered at", where), ("rule", call(table.general(primitive)))]
    replaced = rule.origin.replaced if rule.origin else None
    while replaced is not None:
        pairs.append(("in place of", rule_location(replaced)))
        replaced = replaced.replaced
    return pairs


def _platforms(rule: rules.Rule) -> list[tuple[str, str]]:
    """The platforms that have rules of their own, with the lines that register these."""
    return [(f"on {name}", rule_location(origin)) for name, origin in rule.platforms.items()]


def _derivation(rule: rules.Rule, primitive: Primitive) -> str:
    if rule.source == "regions":
        return (
            f"the primitive's regions, {code_location(primitive.regions)}, and how the table "
            "carries values"
        )
    if rule.source == "decomposition":
        return f"the primitive's decomposition, {code_location(primitive.decomposition)}"
    return "what the table makes of primitives without a rule"


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
    module = primitive.module
    owner = discovery.distribution_of(module)
    return f"{primitive.name}, defined in {module} of {owner}; {', '.join([results, *parts])}"


def _table(table: RuleTable[Any]) -> list[tuple[str, str]]:
    pairs = [
        (
            "table",
            f"{table.name}, defined in {table.module} of {discovery.distribution_of(table.module)}",
        )
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
    variable = primitive.variable
    owner = table.signature.__name__ if table.signature is not None else "a rule"
    lines = [
        f"@dovetail_core.registry().table({table.name!r}).register({variable})",
        f"def {variable.removesuffix('_p')}_rule(...):  # see {owner}",
        f"in a module that your manifest names: contributes={{{table.name!r}: ('your.module',)}}",
    ]
    if primitive.decomposition is None and primitive.regions is None:
        lines.append(f"or say what it is made of, for every table: @{variable}.def_decomposition")
    return "\n".join(lines)
