"""``dovetail matrix --html``: the matrix as one page for a browser, which loads no other files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

from dovetail_core import Primitive, RuleTable, discovery, registry
from dovetail_testing.laws import Law, all_laws
from dovetail_testing.samples import Sample

from . import rules
from .locations import code_location, definition
from .marks import MARKS
from .render import count
from .samples import count_spoken_of, samples_by_primitive

_FILES = Path(__file__).with_name("page")
Rows = Mapping[str, Mapping[str, rules.Rule]]


class Content(NamedTuple):
    """The content of the page: rules by primitive and table, and the facts about both."""

    rows: Rows
    primitives: Mapping[str, Primitive]
    tables: Mapping[str, RuleTable[Any]]
    laws: Mapping[str, Law]
    samples: Mapping[Primitive, Sequence[Sample]]
    problems: Sequence[str]


def page(
    rows: Rows,
    primitives: Mapping[str, Primitive],
    tables: Mapping[str, RuleTable[Any]],
    problems: Iterable[str],
) -> str:
    """The page as HTML.

    Args:
        rows: the rules, by primitives' names and tables' names.
        primitives: at least those of ``rows``, by name.
        problems: further lines, about rules that could not be shown.
    """
    samples, failed = samples_by_primitive()
    laws = {name: law for _, name, law in all_laws()}
    content = Content(rows, primitives, tables, laws, samples, [*problems, *failed])
    style, script = ((_FILES / f"matrix.{kind}").read_text("utf-8") for kind in ("css", "js"))
    return "\n".join(
        [
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>Dovetail: primitives and rule tables</title>\n<style>\n{style}</style>",
            "</head>\n<body>",
            *_header(content),
            *_table(content),
            *_footer(),
            f"<script>\n{script}</script>\n</body>\n</html>\n",
        ]
    )


# --- around the table -----------------------------------------------------------------------------


def _header(content: Content) -> Iterator[str]:
    rows, tables = content.rows, content.tables
    tried = sum(content.primitives[n] in content.samples for n in rows)
    judged = sum(t in content.laws for t in tables)
    yield "<header>\n<h1>Primitives and rule tables</h1>"
    yield (
        f"<p>{count(len(rows), 'primitive')} ({tried} with samples), "
        f"{count(len(tables), 'rule table')} ({judged} with a law).</p>"
    )
    result = Counter(rule.kind for row in rows.values() for rule in row.values())
    yield '<ul class="legend">'
    for kind in MARKS:
        if result[kind]:
            meaning = escape(MARKS[kind].meaning)
            yield f"<li>{_mark(kind)} {meaning}: <b>{result[kind]}</b></li>"
    yield "</ul>"
    for problem in content.problems:
        yield f'<p class="problem">{escape(problem)}</p>'
    yield from _form(content, [k for k in MARKS if result[k]])
    yield "</header>"


def _form(content: Content, kinds: Iterable[str]) -> Iterator[str]:
    """The filters; without scripts they are not shown."""
    homes = [(h, h) for h in _by_home(content)]
    states = [(k, MARKS[k].meaning) for k in kinds]
    yield "<form>"
    yield (
        '<label>Name <input name="name" type="search" placeholder="part of it" autocomplete="off" '
        'aria-keyshortcuts="/"></label>'
    )
    yield f"<label>defined in {_select('home', 'any package', homes)}</label>"
    yield f"<label>with a rule that is {_select('state', 'anything', states)}</label>"
    yield f"<label>in {_select('among', 'any table', [(t, t) for t in content.tables])}</label>"
    yield '<button type="reset">Show all</button> <output></output>\n</form>'


def _select(name: str, anything: str, options: Iterable[tuple[str, str]]) -> str:
    shown = [f'<option value="{escape(v)}">{escape(text)}</option>' for v, text in options]
    return f'<select name="{name}"><option value="">{anything}</option>{"".join(shown)}</select>'


def _footer() -> Iterator[str]:
    active = [registry().plugins[n] for n in registry().active]
    named = ", ".join(f"{p.name} ({p.distribution} {p.version})" for p in active) or "none"
    yield f'<footer class="faint"><p>Plugins: {escape(named)}.</p></footer>'
    yield (
        '<aside aria-live="polite" class="faint">Choose a place to see where its rule comes from: '
        "with the mouse, or with Tab and the arrow keys. / goes to the filters.</aside>"
    )


# --- the table ------------------------------------------------------------------------------------


def _table(content: Content) -> Iterator[str]:
    yield '<table role="grid">'
    yield from _head(content)
    for home, names in _by_home(content).items():
        yield f'<tbody data-home="{escape(home)}">'
        owner = discovery.distribution_of(content.primitives[names[0]].module)
        text = f"{count(len(names), 'primitive')}, of {owner}"
        yield (
            f'<tr class="package"><th scope="rowgroup" colspan="{len(content.tables) + 2}"><div>'
            f'<span class="name">{escape(home)}</span> {escape(text)}</div></th></tr>'
        )
        for name in names:
            yield _line(content, name)
        yield "</tbody>"
    yield "</table>"


def _head(content: Content) -> Iterator[str]:
    """Two header lines: the owners of tables, and the tables' names with facts about each."""
    owners: dict[str, list[str]] = {}
    for table in content.tables:
        owners.setdefault(table.rpartition(".")[0] or "kernel", []).append(table)
    yield '<thead>\n<tr><th></th><th class="owner"></th>'
    for owner, tables in owners.items():
        yield f'<th class="owner" scope="colgroup" colspan="{len(tables)}">{escape(owner)}</th>'
    yield '</tr>\n<tr><th scope="col">primitive</th><th scope="col" class="owner">samples</th>'
    for tables in owners.values():
        for i, table in enumerate(tables):
            yield _column_head(content, table, first=i == 0)
    yield "</tr>\n</thead>"


def _column_head(content: Content, table: str, first: bool) -> str:
    result = Counter(row[table].kind for row in content.rows.values())
    counts = " ".join(f"{_mark(kind)}&#8239;{result[kind]}" for kind in MARKS if result[kind])
    law = content.laws.get(table)
    judged = f"law: {law.name}" if law else "no law"
    return (
        f'<th scope="col" data-table="{escape(table)}"{_class("owner" if first else "")} '
        f'title="{escape(_owner(content.tables[table]))}">{escape(table.rpartition(".")[2])}'
        f"<small>{escape(judged)}</small><small>{counts}</small></th>"
    )


def _owner(table: RuleTable[Any]) -> str:
    return f"{table.name}, defined in {table.module} of {discovery.distribution_of(table.module)}"


def _line(content: Content, name: str) -> str:
    primitive = content.primitives[name]
    samples = content.samples.get(primitive, ())
    variable, _, line = definition(primitive)
    where = f"{primitive.module}{f':{line}' if line else ''}"
    title = f"{name}, defined at {where}{f' as {variable}' if variable else ''}"
    cells = "".join(
        _rule_cell(primitive, rule, content.laws.get(table), samples)
        for table, rule in content.rows[name].items()
    )
    return (
        f'<tr data-name="{escape(name)}"><th scope="row" class="name" title="{escape(title)}">'
        f'{escape(name)}</th><td class="count">{len(samples) or "none"}</td>{cells}</tr>'
    )


def _rule_cell(
    primitive: Primitive, rule: rules.Rule, law: Law | None, samples: Sequence[Sample]
) -> str:
    lines = [MARKS[rule.kind].meaning.partition(" (")[0], *_origin(primitive, rule)]
    if law is not None:
        n = count_spoken_of(law, samples)
        lines.append(f"its law is tried on {count(n, 'sample')}")
    title = escape("\n".join(lines))
    return f'<td class="{rule.kind}" title="{title}">{MARKS[rule.kind].fancy}</td>'


def _origin(primitive: Primitive, rule: rules.Rule) -> Iterator[str]:
    """The origin of a rule, as parts of a sentence."""
    if rule.kind in (rules.EMPTY, rules.BROKEN):
        yield rule.source
    elif rule.kind == rules.DERIVED:
        function = getattr(primitive, rule.source, None)  # its decomposition or regions
        location = f", {code_location(function)}" if function is not None else ""
        yield f"from its {rule.source}{location}" if location else "by the table"
    elif rule.kind != rules.HOLE and rule.source != "platforms":
        yield f"at {rule.origin}" if rule.origin else "the primitive carries it"
        replaced = rule.origin.replaced if rule.origin else None
        while replaced is not None:
            yield f"in place of {replaced}"
            replaced = replaced.replaced
    for name, own in rule.platforms.items():
        yield f"on {name} at {own}"


def _by_home(content: Content) -> dict[str, list[str]]:
    """The primitives' names by the package that defines them."""
    result: dict[str, list[str]] = {}
    for name in content.rows:
        result.setdefault(content.primitives[name].module.partition(".")[0], []).append(name)
    return dict(sorted(result.items()))


def _mark(kind: str) -> str:
    return f'<span class="{kind}">{MARKS[kind].fancy}</span>'


def _class(name: str) -> str:
    return f' class="{name}"' if name else ""
