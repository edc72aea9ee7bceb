"""Import circles within each package of the repository; imports in functions and for types count.

A circle says that a responsibility sits too low, also where Python could live with it. Run without
arguments; prints each circle and exits with 1 if there is one.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parent.parent


def packages(root: Path) -> list[Path]:
    """The folders of all packages of the repository."""
    result = [*root.glob("core/dovetail_*"), *root.glob("plugins/*/dovetail_*")]
    return sorted([*result, *root.glob("facade/dovetail"), *root.glob("examples/*/acme_*")])


def modules(package: Path) -> dict[str, Path]:
    """The modules of a package and their files."""
    result: dict[str, Path] = {}
    for file in package.rglob("*.py"):
        parts = file.relative_to(package.parent).with_suffix("").parts
        result[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return result


def imported(module: str, file: Path) -> Iterator[str]:
    """What a module imports anywhere in it: modules, or names in modules."""
    parts = module.split(".") if file.name == "__init__.py" else module.split(".")[:-1]
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = parts[: len(parts) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            yield from (f"{base}.{alias.name}" for alias in node.names)


def graph(package: Path) -> dict[str, set[str]]:
    """The modules of a package with those that each imports."""
    files = modules(package)
    result: dict[str, set[str]] = {}
    for module, file in files.items():
        names = set(imported(module, file))
        targets = {n if n in files else n.rpartition(".")[0] for n in names}
        result[module] = (targets & files.keys()) - {module}
    return result


def circle(package: Path) -> list[str]:
    """One circle of imports of a package, first and last the same, or nothing."""
    try:
        TopologicalSorter(graph(package)).prepare()
    except CycleError as e:
        return e.args[1]
    return []


def main(root: Path = ROOT) -> int:
    """Print a circle of each package that has one; 1 if any has."""
    result = {p: circle(p) for p in packages(root)}
    for package, names in result.items():
        if names:
            print(f"{package.name}: {' -> '.join(reversed(names))}")
    return int(any(result.values()))


if __name__ == "__main__":
    sys.exit(main())
