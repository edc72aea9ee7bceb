"""The coverage table as a page: one file of HTML, which loads no other files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape

from .coverage import MARKS, TESTED, VERDICTS, Coverage, Verdict, names, summary

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem; color: #222; background: #fff }
table { border-collapse: collapse; margin: 1rem 0 }
th, td { padding: .2rem .6rem; border: 1px solid #ddd; text-align: left; font-weight: normal }
thead th { background: #f4f4f4; position: sticky; top: 0 }
td { text-align: center }
.tested { background: #dff3e0 } .failed { background: #f8c9c9; font-weight: bold }
.excused { background: #fdf0c8 } .skipped, .unsupported { background: #ececec }
.untested { background: #fff3e6 }
code { font: 13px ui-monospace, monospace }
@media (prefers-color-scheme: dark) {
  body { color: #ddd; background: #1b1b1b } thead th { background: #2a2a2a }
  th, td { border-color: #444 } .tested { background: #1f3d22 } .failed { background: #5c2020 }
  .excused { background: #4d4218 } .skipped, .unsupported { background: #333 }
  .untested { background: #49351d }
}
"""


def page(result: Mapping[str, Coverage]) -> str:
    """A page about the coverage of each test."""
    body = "\n".join(line for test, coverage in result.items() for line in _section(test, coverage))
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f"<title>Conformance</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        f"<h1>Conformance</h1>\n{body}\n</body>\n</html>\n"
    )


def _section(test: str, coverage: Coverage) -> Iterator[str]:
    primitives, tables = names(coverage)
    yield f"<h2><code>{escape(test)}</code></h2>\n<p>{escape(summary(coverage))}</p>"
    heads = "".join(f'<th scope="col">{escape(t)}</th>' for t in tables)
    yield f"<table>\n<thead><tr><th>primitive</th>{heads}</tr></thead>\n<tbody>"
    for p in primitives:
        rules = "".join(_rule(coverage.get((p, t))) for t in tables)
        yield f'<tr><th scope="row"><code>{escape(p)}</code></th>{rules}</tr>'
    yield "</tbody>\n</table>"
    legend = (f'<span class="{v}">&nbsp;{MARKS[v]} {v}&nbsp;</span>' for v in VERDICTS)
    yield f"<p>{' '.join(legend)}</p>\n<ul>"
    for (p, t), v in sorted(coverage.items(), key=lambda x: VERDICTS.index(x[1].verdict)):
        if v.verdict != TESTED:
            why = escape("; ".join(v.reasons))
            yield f'<li><span class="{v.verdict}">{v.verdict}</span> <code>{escape(p)}</code> x '
            yield f"<code>{escape(t)}</code>: {why}</li>"
    yield "</ul>"


def _rule(result: Verdict | None) -> str:
    if result is None:
        return "<td>·</td>"
    title = "; ".join(result.reasons) or f"{result.cases} case{'' if result.cases == 1 else 's'}"
    return f'<td class="{result.verdict}" title="{escape(title)}">{MARKS[result.verdict]}</td>'
