"""Uses of names of other packages that are not public.

``dovetail_core`` names what plugins take from the kernel: functions, classes, and modules by topic.
Refused are, in the code of the product outside of the kernel:

- imports of modules below ``dovetail_core``, and names of its public modules that are not in their
  ``__all__``;
- names with an underscore in front of another package (``__array_namespace_info__`` is public);
- ``x.__class__ = ...``;
- primitives recognised by a parameter that others may have, too: ``"axis_sizes" in eqn.params``;
- packages of the project recognised by how they begin: ``name.startswith("dovetail_")``.

Run without arguments; prints each one and exits with 1 if there is any, or an exception below that
no code needs any more.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

from product import product_files, report

ROOT = Path(__file__).parent.parent
KERNEL = "core/dovetail_core"

ALLOWED = {
    "core/dovetail_base/lazy.py: __class__": "the only way to make a package callable",
    "core/dovetail_base/source.py: startswith": "frames of all packages of the project are hidden",
    "core/dovetail_surface/parameters.py: __class__": (
        "`bind` of the few primitives with further parameters drops these; others need not look"
    ),
    "plugins/jax_names/dovetail_jax_names/dictionaries.py: __class__": (
        "a module's dictionary is filled when it is asked for, by a class of its own until then"
    ),
    "plugins/jax_names/dovetail_jax_names/private/random/prng.py: __class__": (
        "a pickle of another library names a class that keys are not of"
    ),
}
"""By ``file: what``: the reason."""

OWN_PARAMETERS = {"num_consts", "subfuns", "call_jaxpr", "groups", "mapping"}
"""Parameters that a package's own primitives may have or not."""


def modules_of_kernel(tree: ast.Module) -> Iterator[tuple[int, str, str]]:
    """Imports of modules of the kernel: lines, names, and messages."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("dovetail_core."):
            names = [f"{node.module}.{a.name}" for a in node.names]
        elif isinstance(node, ast.Import):
            names = [a.name for a in node.names if a.name.startswith("dovetail_core.")]
        else:
            continue
        for name in names:
            yield node.lineno, name, f"{name} is not public: import from dovetail_core"


def names_of_public_modules(root: Path) -> dict[str, frozenset[str]]:
    """The ``__all__`` of each public module of the kernel, by the module's name."""
    result: dict[str, frozenset[str]] = {}
    for path in (root / KERNEL).rglob("*.py"):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.Assign) and _is_name(node.targets[0], "__all__"):
                names = ast.literal_eval(node.value)
                result[path.stem] = frozenset(names)
    return result


def names_not_in_all(
    tree: ast.Module, public: dict[str, frozenset[str]]
) -> Iterator[tuple[int, str, str]]:
    """Names of public modules that are not in their ``__all__``."""
    local: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "dovetail_core":
            local.update({a.asname or a.name: a.name for a in node.names if a.name in public})
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            module = local.get(node.value.id)
            if module is not None and node.attr not in public[module]:
                name = f"{module}.{node.attr}"
                yield node.lineno, name, f"{name} is not in the module's __all__"


def private_names(tree: ast.Module, package: str) -> Iterator[tuple[int, str, str]]:
    """Private names of other packages of the project."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.ImportFrom) or node.level or not node.module:
            continue
        top = node.module.partition(".")[0]
        if top == package or not top.startswith("dovetail_"):
            continue
        for name in [*node.module.split("."), *(a.name for a in node.names)]:
            if name.startswith("_") and not name.endswith("__"):
                yield node.lineno, name, f"{name} of {node.module} is private to {top}"


def recognitions(tree: ast.Module) -> Iterator[tuple[int, str, str]]:
    """Swaps of classes, and code that recognises things by how they are called."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            if any(isinstance(t, ast.Attribute) and t.attr == "__class__" for t in node.targets):
                yield node.lineno, "__class__", "an object's class is swapped"
        elif isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.In, ast.NotIn)):
            name = node.left.value if isinstance(node.left, ast.Constant) else None
            of = node.comparators[0]
            kind = of.id if isinstance(of, ast.Name) else getattr(of, "attr", "")
            if isinstance(name, str) and kind == "params" and name not in OWN_PARAMETERS:
                text = f"a primitive is recognised by its parameter {name!r}: ask a trait"
                yield node.lineno, name, text
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "startswith":
            for argument in filter(_begins_with_project, node.args):
                yield argument.lineno, "startswith", "a name is recognised by how it begins"


def _begins_with_project(node: ast.expr) -> bool:
    parts = node.elts if isinstance(node, ast.Tuple) else [node]
    return any(isinstance(p, ast.Constant) and p.value == "dovetail_" for p in parts)


def _is_name(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def refused_in(
    file: Path, root: Path, public: dict[str, frozenset[str]]
) -> Iterator[tuple[str, int, str]]:
    """The code of a file that is refused: the key of :data:`ALLOWED`, line, and message."""
    tree = ast.parse(file.read_text())
    path = file.relative_to(root).as_posix()
    package = next(p for p in file.relative_to(root).parts if p.startswith("dovetail"))
    result = [*private_names(tree, package), *recognitions(tree)]
    result += [*modules_of_kernel(tree), *names_not_in_all(tree, public)]
    for line, name, text in result:
        yield f"{path}: {name}", line, text


def main(root: Path = ROOT, allowed: dict[str, str] = ALLOWED) -> int:
    """Print what is there and is not allowed, and what is allowed and not there; 1 if any is."""
    public = names_of_public_modules(root)
    files = [f for f in product_files(root) if root / KERNEL not in f.parents]
    return report((x for f in files for x in refused_in(f, root, public)), allowed, "check_door.py")


if __name__ == "__main__":
    sys.exit(main())
