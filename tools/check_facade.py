"""Hold the facade to re-exporting: imports, ``__all__`` and lazy look-up, and no logic at all.

    python tools/check_facade.py [ROOT]

Prints one line per problem, as ``file:line: what. remedy``, and exits with 1 if there was any.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

LAZY = {"__getattr__", "__dir__"}
ASSIGNED = LAZY | {"__all__", "__version__"}
BRANCHES = (ast.For, ast.While, ast.Try, ast.With, ast.FunctionDef, ast.ClassDef, ast.Lambda)
LONGEST = 8
"""Statements that a module-level ``__getattr__`` may have: look up, raise or import, remember."""


def fault(node: ast.stmt) -> str | None:
    """What is wrong with a top-level statement of a facade module, if anything."""
    match node:
        case ast.Import() | ast.ImportFrom():
            return None
        case ast.Expr(value=ast.Constant(value=str())):
            return None
        case ast.If(test=test, orelse=[]) if ast.unparse(test).endswith("TYPE_CHECKING"):
            bad = [n for n in node.body if not isinstance(n, ast.Import | ast.ImportFrom)]
            return "a TYPE_CHECKING block that does more than import" if bad else None
        case ast.Assign(targets=[target], value=value) | ast.AnnAssign(target=target, value=value):
            return fault_of_assignment(target, value)
        case ast.FunctionDef(name=name) if name in LAZY:
            return fault_of_lookup(node)
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            return f"a definition of {name}"
        case _:
            return f"the statement `{ast.unparse(node).splitlines()[0][:60]}`"


def fault_of_assignment(target: ast.expr, value: ast.expr | None) -> str | None:
    """Names of the import system may be computed; any other must be private and a literal."""
    elements = target.elts if isinstance(target, ast.Tuple) else [target]
    names = [ast.unparse(e) for e in elements]
    if all(name in ASSIGNED for name in names):
        return None
    if all(name.startswith("_") for name in names) and (value is None or is_literal(value)):
        return None
    return f"a value computed for {', '.join(names)}"


def is_literal(value: ast.expr) -> bool:
    """Whether ``value`` is written out in full: constants, and containers of constants."""
    try:
        ast.literal_eval(value)
    except ValueError:
        return False
    return True


def fault_of_lookup(function: ast.FunctionDef) -> str | None:
    """``__getattr__`` and ``__dir__`` look up a name; they hold no loop and stay short."""
    inner = [n for n in ast.walk(function) if n is not function]
    for node in inner:
        if isinstance(node, BRANCHES):
            return f"a {type(node).__name__.lower()} in {function.name}"
    if sum(isinstance(n, ast.stmt) for n in inner) > LONGEST:
        return f"{function.name} of more than {LONGEST} statements"
    return None


def check(facade: Path) -> Iterator[str]:
    """All problems of the modules below ``facade``."""
    for path in sorted(facade.rglob("*.py")):
        for node in ast.parse(path.read_text()).body:
            what = fault(node)
            if what is not None:
                yield (
                    f"{path}:{node.lineno}: the facade has no logic, but here is {what}. "
                    "Move it into the plugin or the kernel and re-export it."
                )


def main() -> int:
    """Check the repository around this file, or the one named on the command line."""
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[1])
    problems = list(check(root / "facade" / "dovetail"))
    print("\n".join(problems) if problems else "facade: nothing but re-exports")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
