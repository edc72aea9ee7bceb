"""``dovetail explain PRIMITIVE``: all that is known of a primitive."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dovetail_core import ClosedJaxpr, Jaxpr, Primitive, Traits, discovery, stage_closed
from dovetail_testing.laws import Law, all_laws
from dovetail_testing.samples import Sample

from . import rules
from .locations import code_location, definition, keywords, signature
from .marks import MARKS, mark
from .render import count, fields, shortened, style, table
from .samples import count_spoken_of, samples_by_primitive

SHOWN_SAMPLES = 6

Pairs = Iterator[tuple[str, str]]


def run(primitive: Primitive) -> int:
    """Print the page; returns 1 if a table fails to derive a rule."""
    all_samples, problems = samples_by_primitive()
    samples = all_samples.get(primitive, [])
    tables, unloaded = rules.load_tables(rules.table_names())
    result = {name: rules.rule(t, primitive) for name, t in tables.items()}
    print(style(primitive.name, "bold"))
    print(fields(list(_facts(primitive, samples))))
    print(f"\n{style('Rules', 'bold')}")
    print(_rules(result, samples))
    print(f"\n{style('Samples', 'bold')}: {len(samples) or 'none'}")
    for line in _sample_lines(samples):
        print(line)
    for problem in [*unloaded, *problems]:
        print(f"{style('problem:', 'red')} {problem}")
    return int(any(r.kind == rules.BROKEN for r in result.values()))


# --- what it is -----------------------------------------------------------------------------------


def _facts(primitive: Primitive, samples: Sequence[Sample]) -> Pairs:
    """The facts that the primitive declares; one that is added to primitives is a line here."""
    yield from _definition_pairs(primitive)
    yield from _typing(primitive, samples)
    yield "results", "a list" if primitive.multiple_results else "one"
    yield "effects", _effects(primitive, samples)
    yield "decomposition", _function(primitive.decomposition)
    yield "regions", _function(primitive.regions)
    yield "traits", "; ".join(_traits(primitive.traits)) or "nothing is said"
    if primitive.is_high is not None:
        yield (
            "high",
            f"where {code_location(primitive.is_high)} says; its rule of 'to_lo' lowers it",
        )
    if primitive.stateful:
        more = ", and makes such values" if primitive.allocates else ""
        yield "mutable", f"may take mutable values{more}"
    yield from _example(samples)


def _definition_pairs(primitive: Primitive) -> Pairs:
    variable, file, line = definition(primitive)
    name = f"{primitive.module}{f'.{variable}' if variable else ''}"
    yield "defined as", f"{name}, of {discovery.distribution_of(primitive.module)}"
    if file:
        yield "in", f"{file}:{line}" if line else file


def _typing(primitive: Primitive, samples: Sequence[Sample]) -> Pairs:
    rule = primitive.abstract_eval
    if rule is None:
        yield "type rule", "none"
        return
    yield "type rule", f"{signature(rule)}\nat {code_location(rule)}"
    about = (inspect.getdoc(rule) or "").partition("\n\n")[0]
    if about:
        yield "", " ".join(about.split())
    declared = primitive.traits.parameters
    yield "parameters", "\n".join(_parameters(keywords(rule), samples, declared)) or "none"


def _parameters(
    types: Mapping[str, str], samples: Sequence[Sample], declared: Mapping[str, str]
) -> Iterator[str]:
    """Each parameter with its type and meaning, and the values that samples have."""
    for name in dict.fromkeys([*types, *(k for s in samples for k in s.params)]):
        values = dict.fromkeys(_brief(s.params[name]) for s in samples if name in s.params)
        kind = f": {types[name]}" if types.get(name) else ""
        shown = " or ".join(list(values)[:3])
        meaning = f": {declared[name]}" if name in declared and not kind else ""
        meaning = f" ({declared[name]})" if name in declared and kind else meaning
        yield f"{name}{kind}{meaning}{f', as {shown}' if shown else ''}"


def _traits(traits: Traits) -> Iterator[str]:
    """The traits of the operation, in words."""
    if callable(traits.linear):
        yield f"linear where {code_location(traits.linear)} says"
    elif traits.linear:
        groups = [_group(g) for g in traits.linear]
        yield f"linear in {' and in '.join(groups)}{', each alone' if len(groups) > 1 else ''}"
    if traits.constant:
        yield f"constant in {_group(traits.constant)}, step by step"
    if traits.monotone:
        yield f"monotone ({traits.monotone})"
    names = ("elementwise", "commutative", "effect_only")
    yield from (name.replace("_", " ") for name in names if getattr(traits, name))


def _group(group: tuple[int, ...] | slice) -> str:
    """Operands in words."""
    if isinstance(group, slice):
        return f"all operands from {group.start} on" if group.start else "all operands"
    one = "operand" if len(group) == 1 else "operands"
    return f"{one} {' and '.join(map(str, group))}"


def _brief(value: Any) -> str:
    return "{...}" if isinstance(value, (Jaxpr, ClosedJaxpr)) else shortened(repr(value), 30)


def _effects(primitive: Primitive, samples: Sequence[Sample]) -> str:
    result: list[str] = []
    shown = "no sample shows any"
    for sample in samples:
        try:
            inferred = primitive.infer(sample.avals, dict(sample.params))
        except Exception:  # the program below shows the failure of the type rule
            continue
        shown = "none"
        result += sorted(str(e) for e in inferred.effects)
    return ", ".join(dict.fromkeys(result)) or shown


def _function(function: Any) -> str:
    return code_location(function) if function is not None else "none"


def _example(samples: Sequence[Sample]) -> Pairs:
    """The first sample as a program."""
    if not samples:
        return
    sample = samples[0]
    try:
        text = str(stage_closed(lambda *xs: sample.flat(*xs), sample.avals))
    except Exception as e:  # whatever the type rule raises
        text = f"the first sample cannot be traced: {type(e).__name__}: {e}"
    yield "as a program", text


# --- its rules ------------------------------------------------------------------------------------


def _rules(result: Mapping[str, rules.Rule], samples: Sequence[Sample]) -> str:
    """A line for each table, and each law without a table: the rule and its origin."""
    laws = {name: law for _, name, law in all_laws()}
    lines = [
        [name, f"{mark(r.kind)} {_WORDS[r.kind]}", _tried(laws.get(name), samples), _from(r)]
        for name, r in result.items()
    ]
    lines += [
        [name, "", _tried(law, samples), "a law of all programs"]
        for name, law in laws.items()
        if name not in result
    ]
    styles = [["", MARKS[r.kind].colour] for r in result.values()]
    return table(["table", "rule", "law tried on", "from"], lines, styles, indent="  ")


_WORDS = {
    rules.DECLARED: "declared",
    rules.OVERRIDE: "overriding",
    rules.DERIVED: "derived",
    rules.EMPTY: "none",
    rules.HOLE: "hole",
    rules.BROKEN: "fails",
}


def _from(rule: rules.Rule) -> str:
    if rule.kind == rules.HOLE:
        return ""
    if rule.kind in (rules.EMPTY, rules.BROKEN):
        return rule.source
    if rule.kind == rules.DERIVED:
        return "the table" if rule.source == "table" else f"its {rule.source}"
    general = str(rule.origin) if rule.origin else "the primitive itself"
    own = [f"on {name} {origin}" for name, origin in rule.platforms.items()]
    return "; ".join(own if rule.source == "platforms" else [general, *own])


def _tried(law: Law | None, samples: Sequence[Sample]) -> str:
    """The number of samples on which a law is tried, in words."""
    if law is None:
        return "no law"
    return count(count_spoken_of(law, samples), "sample")


# --- its samples ----------------------------------------------------------------------------------


def _sample_lines(samples: Sequence[Sample]) -> Iterator[str]:
    for sample in samples[:SHOWN_SAMPLES]:
        yield f"  {shortened(sample.label)}"
    if len(samples) > SHOWN_SAMPLES:
        yield f"  ... and {count(len(samples) - SHOWN_SAMPLES, 'other')}"
