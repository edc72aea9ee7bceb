"""Measure derivatives against mpmath and beside JAX's, over the whole range of their types.

    python benchmarks/derivative_accuracy.py [--points 200] [--write] [EXPRESSIONS...]

Without expressions all functions of tests/derivatives are measured; --write renews their lines in
docs/reference/derivative_accuracy.md, and keeps the others. JAX is called in an environment of its
own, which is made where it is missing, or by the interpreter ``--peer``.
"""

from __future__ import annotations

import argparse
import importlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "benchmarks")]
PAGE = ROOT / "docs/reference/derivative_accuracy.md"
DTYPES = (np.float32, np.float64)

TEXT = """# Accuracy of derivatives

How far first and second derivatives are from the exact ones, in units in the last place (ulps) of
the result: the greatest error of {points} numbers of each type, with magnitudes from the least
normal number to the greatest, next to singular points and at ends of domains. Each derivative is
computed by forward and by reverse mode (`jvp`, `vjp`), second ones by all four pairs of these, and
the worst of them is here. The exact ones are mpmath's, of the numbers as they are.
`python benchmarks/derivative_accuracy.py --write` measures again, beside JAX, and writes this page;
a sample is among the tests.

Errors above 16 are in bold type; where no digit is left, the result is "lost". Results that
the type does not hold, and those next to the least normal number (less than 1024 times it), do not
count; nor do arguments around zeros of a derivative that are no simple numbers, where terms cancel
whatever the formula.

{head}
{elementwise}

## Functions of matrices

Derivatives of `f(s A + t E)` in `t` at 0, for well-conditioned matrices `A` of 4 columns or 3,
directions `E`, and {points} scales `s`, powers of two over the exponents of the type but for 26 at
either end. Errors are relative to the sum of the absolute values of the elements, which are added
with weights; those above 64, sixteen times the condition number, are in bold type. Sums within 64
times of the greatest number do not count, nor those whose roundings are below the least normal
number: terms of these need not be within the range.

{head}
{matrices}

{notes}
"""
HEAD = """| function | type | first | second | JAX: first | JAX: second |
| --- | --- | --- | --- | --- | --- |"""


def measured(package: str, given: Path, out: Path) -> None:
    """Write the derivatives that a package computes of the points in a file."""
    from derivatives.sweep import CASES

    root: Any = importlib.import_module(package)
    for module in ("numpy", "lax", "lax.linalg", "nn", "scipy.special", "scipy.linalg"):
        importlib.import_module(f"{package}.{module}")
    root.config.update("jax_enable_x64" if package == "jax" else "enable_x64", True)
    found = {}
    for key, x in np.load(given).items():
        name = key.partition("|")[2]
        ways = CASES[name].ways(root, name)
        try:
            values = root.jit(lambda x, ways=ways: [way(x) for way in ways])(x)
        except (NotImplementedError, TypeError, ValueError) as e:  # JAX refuses a few
            print(f"{package}: {key}: {type(e).__name__}", file=sys.stderr)
            values = [np.full_like(x, np.nan)] * len(ways)
        found[key] = np.stack([np.asarray(v) for v in values])
    np.savez(out, **found)


def values(python: str, package: str, points: dict[str, Any]) -> dict[str, Any]:
    """The derivatives that an interpreter computes with a package."""
    with tempfile.TemporaryDirectory() as folder:
        given, out = Path(folder, "points.npz"), Path(folder, "values.npz")
        np.savez(given, **points)
        command = [python, __file__, "--package", package, str(given), str(out)]
        subprocess.run(command, check=True, env={**os.environ, "JAX_PLATFORMS": "cpu"})
        return dict(np.load(out))


def shown(errors: list[Any], most: float) -> str:
    """The greatest of errors, as a cell of the table."""
    worst = max(float(np.nanmax(np.nan_to_num(e))) for e in errors)
    text = "lost" if worst > 1e6 else f"{worst:.1f}" if worst < 100 else f"{worst:.0f}"
    return f"**{text}**" if worst > most else text


def table(names: list[str], count: int, peer: str) -> list[str]:
    """The lines of the table."""
    from derivatives import sweep

    from peer import peer_python

    places = {f"{t.__name__}|{n}": sweep.CASES[n].places(t, count) for n in names for t in DTYPES}
    both = [values(sys.executable, "dovetail", places)]
    both.append(values(peer or str(peer_python()), "jax", places))
    lines = []
    for key, x in places.items():
        kind, _, name = key.partition("|")
        wanted, cells = sweep.CASES[name].exact_at(x), []
        for found in both:
            off = list(sweep.errors(list(found[key]), wanted).values())
            cells += [shown(part, sweep.CASES[name].most) for part in (off[:2], off[2:])]
        lines.append(f"| `{name}` | {kind} | {' | '.join(cells)} |")
        print(lines[-1], flush=True)
    return lines


def main() -> None:
    """Measure, and print or write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--points", type=int, default=200)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--peer", default="", help="an interpreter that has JAX")
    parser.add_argument("--package", help=argparse.SUPPRESS)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    if options.package:
        return measured(options.package, *map(Path, options.names))
    from derivatives import sweep

    lines = table(options.names or list(sweep.CASES), options.points, options.peer)
    if options.write:
        write(lines, options.points)


def write(lines: list[str], points: int) -> None:
    """Renew lines of the page."""
    from derivatives import sweep

    known = PAGE.read_text().splitlines() + lines
    found = {line.rsplit("|", 5)[0]: line for line in known if line.startswith("| `")}

    def rows(names: Iterable[str]) -> str:
        keys = [f"| `{name}` | {t.__name__} " for name in names for t in DTYPES]
        return "\n".join(found[key] for key in keys if key in found)

    notes = "\n".join(f"- `{name}`: {why}." for name, (_, why) in sweep.BEYOND.items())
    parts = {"elementwise": rows(sweep.ELEMENTWISE), "matrices": rows(sweep.MATRICES)}
    PAGE.write_text(TEXT.format(points=points, head=HEAD, notes=notes, **parts))


if __name__ == "__main__":
    main()
