"""Keeps plugins' packages lazy: rewrites the look-up table below the imports for type checkers.

A plugin's ``__init__.py`` lists its public names once, as imports in a ``TYPE_CHECKING`` block (a
file with plain re-exports is converted). This writes the table that finds them at run time.

    python tools/make_lazy.py [--check]
"""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MARK = "# Written by tools/make_lazy.py from the imports above."


def convert(path: Path) -> str:
    """The text that an ``__init__.py`` should have.

    Raises:
        SystemExit: a public name is also the name of a sub-module, which would hide it.
    """
    source = path.read_text()
    tree = ast.parse(source)
    doc = ast.get_docstring(tree, clean=False) or ""
    imports = list(_imports(tree))
    names = [_target(node, a) for node in imports for a in node.names]
    public = _public(tree)
    for name, module in names:
        file = path.parent / f"{name}.py"
        if module and (file.exists() or (path.parent / name / "__init__.py").exists()):
            raise SystemExit(
                f"{path}: {name!r} is also the name of a sub-module: rename {file.name}"
            )
    lines = [f'"""{doc}"""', "", "from __future__ import annotations", ""]
    lines += ["from typing import TYPE_CHECKING", ""]
    lines += [
        "from dovetail_core.base.lazy import lazy_exports as _lazy_exports",
        "",
        "if TYPE_CHECKING:",
    ]
    for node in imports:
        module = "." * node.level + (node.module or "")
        lines.append(f"    from {module} import (")
        lines += [f"        {a.name} as {a.asname or a.name}," for a in node.names]
        lines.append("    )")
    lines += ["", MARK, "_WHERE = {"]
    lines += [f'    "{name}": "{module}",' for name, module in sorted(names)]
    lines += ["}", "__all__ = ["]
    lines += [f'    "{n}",' for n in sorted(public if public is not None else dict(names))]
    lines += ["]", "", "__getattr__ = _lazy_exports(__name__, _WHERE)", "", ""]
    lines += ["def __dir__() -> list[str]:", "    return sorted({*globals(), *_WHERE})", ""]
    return formatted(path, "\n".join(lines))


def formatted(path: Path, text: str) -> str:
    """The text as ruff sorts and formats it."""
    for command in (["check", "--select", "I", "--fix", "--quiet"], ["format"]):
        full = [sys.executable, "-m", "ruff", *command, "--stdin-filename", str(path), "-"]
        text = subprocess.run(full, input=text, capture_output=True, text=True, check=True).stdout
    return text


def _target(node: ast.ImportFrom, alias: ast.alias) -> tuple[str, str]:
    public = alias.asname or alias.name
    module = ("" if node.level else "=") + (node.module or "")
    return public, f"{module}:{alias.name}" if alias.name != public else module


def _imports(tree: ast.Module) -> list[ast.ImportFrom]:
    found: list[ast.ImportFrom] = []
    for node in tree.body:
        body = node.body if isinstance(node, ast.If) else [node]
        found += [n for n in body if isinstance(n, ast.ImportFrom) and _exports(n)]
    return found


def _exports(node: ast.ImportFrom) -> bool:
    if node.level:
        return True
    return node.module not in ("__future__", "typing", "dovetail_core.base.lazy") and not any(
        (a.asname or a.name).startswith("_") for a in node.names
    )


def _public(tree: ast.Module) -> list[str] | None:
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return list(ast.literal_eval(node.value))
    return None


def main() -> int:
    """Rewrite every plugin's ``__init__.py``, or with ``--check`` say which are out of date."""
    stale = 0
    for path in sorted(ROOT.glob("plugins/*/dovetail_*/__init__.py")):
        text = convert(path)
        if text != path.read_text():
            stale += 1
            if "--check" in sys.argv:
                print(f"{path.relative_to(ROOT)} is out of date: run python tools/make_lazy.py")
            else:
                path.write_text(text)
    return stale if "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
