"""Compare what each plugin imports with what its manifest requires, and with pyproject.toml.

    python tools/check_manifests.py [ROOT]

Prints one line per problem, as ``file:line: what. remedy``, and exits with 1 if there was any.
"""

from __future__ import annotations

import ast
import sys
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

PREFIX = "dovetail_"
KERNEL = "dovetail_core"


@dataclass
class Plugin:
    """One standard plugin: its package on disk and what its manifest says."""

    name: str
    package: Path
    requires: frozenset[str] = frozenset()
    tables: frozenset[str] = frozenset()
    contributes: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    surfaces: frozenset[str] = frozenset()

    @property
    def module(self) -> str:
        return self.package.name

    @property
    def own_project(self) -> Path:
        """Of a plugin that is a distribution of its own: what describes that."""
        return self.package.parent / "pyproject.toml"


def find_plugins(root: Path) -> list[Plugin]:
    """Every ``plugins/<name>/dovetail_<name>``, its manifest not read yet."""
    packages = sorted(p for p in root.glob(f"plugins/*/{PREFIX}*") if p.is_dir())
    return [Plugin(p.name.removeprefix(PREFIX), p) for p in packages]


def read_manifest(plugin: Plugin) -> Iterator[str]:
    """Import the manifest's module, fill ``plugin`` from it, yield what is wrong with it."""
    path = plugin.package / "plugin.py"
    if not path.exists():
        yield f"{path}:1: missing. Write a module that holds MANIFEST."
        return
    for node, module in imports(ast.parse(path.read_text()), nested=False):
        top = module.split(".")[0]
        if top != KERNEL and top not in sys.stdlib_module_names:
            yield (
                f"{path}:{node.lineno}: a manifest's module imports {module}. It is read at every "
                "start-up: import the kernel and the standard library only."
            )
    manifest: Any = import_module(f"{plugin.module}.plugin").MANIFEST
    if manifest.name != plugin.name:
        yield f"{path}:1: the manifest calls itself {manifest.name!r}. Call it {plugin.name!r}."
    plugin.requires = frozenset(manifest.requires)
    plugin.tables = frozenset(manifest.tables)
    plugin.contributes = manifest.contributes
    plugin.surfaces = frozenset(manifest.surfaces.values())
    for module in {m for modules in plugin.contributes.values() for m in modules}:
        stem = plugin.package.parent.joinpath(*module.split("."))
        if not (stem.with_suffix(".py").exists() or (stem / "__init__.py").exists()):
            yield f"{path}:1: promises rules in {module}, which does not exist. Write or drop it."


def imports(tree: ast.AST, *, nested: bool = True) -> Iterator[tuple[ast.stmt, str]]:
    """The absolute imports below ``tree``; without ``nested`` only those that run on import."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import):
            yield from ((node, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            if node.module and not node.level:
                yield node, node.module
        elif nested or not (is_function(node) or is_type_checking(node)):
            yield from imports(node, nested=nested)


def is_function(node: ast.AST) -> bool:
    """Whether the statements below ``node`` run later than the import of its module."""
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)


def is_type_checking(node: ast.AST) -> bool:
    """Whether ``node`` is ``if TYPE_CHECKING:``."""
    return isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")


def column_owners(plugin: Plugin, path: Path, plugins: list[Plugin]) -> set[str]:
    """The owners of the tables whose rules ``path`` holds: known there, and there only.

    Such a module is loaded when the table is filled, so its owner is installed by then.
    """
    parts = path.relative_to(plugin.package).parts
    if len(parts) < 2 or parts[0] != "rules":
        return set()
    package = f"{plugin.module}.rules.{parts[1].removesuffix('.py')}"  # a package, or one module
    tables = {
        table
        for table, modules in plugin.contributes.items()
        if any(m == package or m.startswith(package + ".") for m in modules)
    }
    return {p.name for p in plugins if p.tables & tables}


def check_imports(plugin: Plugin, plugins: list[Plugin]) -> Iterator[str]:
    """Imports of other plugins: required by the manifest, and of packages or surfaces only."""
    homes = {p.module: p.package for p in plugins}
    surfaces = {module for p in plugins for module in p.surfaces}
    for path in sorted(plugin.package.rglob("*.py")):
        allowed = plugin.requires | column_owners(plugin, path, plugins)
        for node, module in imports(ast.parse(path.read_text())):
            top, *rest = module.split(".")
            if top not in homes or top == plugin.module:
                continue
            place = f"{path}:{node.lineno}"
            other = top.removeprefix(PREFIX)
            if other not in allowed:
                yield (
                    f"{place}: imports {module}, but the manifest of {plugin.name!r} does not "
                    f"require {other!r}. Require it, or move a rule to rules/<table>/."
                )
            elif module not in surfaces and (
                any(r.startswith("_") for r in rest)
                or not (homes[top].joinpath(*rest) / "__init__.py").exists()
            ):
                yield (
                    f"{place}: reaches past the public packages of {top} into {module}. Import "
                    f"the name from {top} itself, and export it there if it is missing."
                )


def check_entry(plugin: Plugin, path: Path, entries: Mapping[str, str]) -> Iterator[str]:
    """The entry point by which Dovetail finds a plugin."""
    target = f"{plugin.module}.plugin:MANIFEST"
    if entries.get(plugin.name) != target:
        yield f'{path}:1: no entry point {plugin.name} = "{target}". Add it.'


def check_project(root: Path, plugins: list[Plugin]) -> Iterator[str]:
    """Every place in pyproject.toml that lists the plugins lists all of them."""
    path = root / "pyproject.toml"
    config = tomllib.loads(path.read_text())
    entries = config["project"]["entry-points"]["dovetail.plugins"]
    wheel = config["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    linter = config["tool"]["importlinter"]
    lists = {"importlinter.root_packages": linter["root_packages"]}
    for contract in linter["contracts"]:
        if contract["id"] not in ("layers", "kernel-layers", "transformations"):
            key = "forbidden_modules" if contract["id"] == "kernel" else "source_modules"
            lists[f"importlinter contract {contract['id']!r}, {key}"] = contract[key]
    for plugin in plugins:
        if plugin.own_project.exists():
            own = tomllib.loads(plugin.own_project.read_text())["project"]["entry-points"]
            yield from check_entry(plugin, plugin.own_project, own["dovetail.plugins"])
        else:
            yield from check_entry(plugin, path, entries)
            if plugin.package.relative_to(root).as_posix() not in wheel:
                yield f"{path}:1: the wheel leaves out {plugin.package}. Add it to packages."
        for where, names in lists.items():
            if plugin.module not in names:
                yield f"{path}:1: {where} lacks {plugin.module}. Add it."
    for name in sorted(set(entries) - {p.name for p in plugins}):
        yield f"{path}:1: entry point {name!r} has no plugins/{name}/{PREFIX}{name}. Drop it."


def check(root: Path) -> list[str]:
    """All problems of the plugins below ``root``."""
    plugins = find_plugins(root)
    problems = [*check_project(root, plugins)]
    for plugin in plugins:
        problems += read_manifest(plugin)
    packages = [*sorted((root / "core").glob("dovetail_*/")), root / "facade" / "dovetail"]
    for package in [*packages, *(p.package for p in plugins)]:
        if not (package / "py.typed").exists():
            problems.append(f"{package}/py.typed:1: missing. Type checkers ignore the package.")
    for plugin in plugins:
        problems += check_imports(plugin, plugins)
    return problems


def main() -> int:
    """Check the repository around this file, or the one named on the command line."""
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[1]).resolve()
    sys.path[:0] = [str(root / "core"), *map(str, sorted(root.glob("plugins/*")))]
    problems = check(root)
    print("\n".join(problems) if problems else "manifests: every import is accounted for")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
