"""Writes the facade from what the plugins say: run it after a public name is added or removed."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PLUGINS = (
    "ad backends batching callbacks custom_rules hijax jit lax nn numpy random refs remat"
).split()
# Those that are no plugin's own: the kernel's, and modules inside of surfaces.
SURFACES = {
    "errors": "dovetail_core.base.errors",
    "lax.linalg": "dovetail_lax.linalg",
    "nn.initializers": "dovetail_nn.initializers",
    "numpy.fft": "dovetail_numpy.fft",
    "numpy.linalg": "dovetail_numpy.linalg",
    "tree": "dovetail_core.tree",
    "tree_util": "dovetail_core.tree.util",
}
for _plugin in PLUGINS:
    SURFACES |= import_module(f"dovetail_{_plugin}.plugin").MANIFEST.surfaces
KERNEL = {
    "config": "dovetail_core.registry.configuration:config",
    "enable_x64": "dovetail_core.base.options:enable_x64",
    "float0": "dovetail_core.types.avals:float0",
    "named_scope": "dovetail_core.base.source:named_scope",
    "typeof": "dovetail_core.types.avals:typeof",
}


def surface(name: str, module: str, children: list[str]) -> str:
    """The text of a surface module of the facade."""
    found = import_module(module)
    plugin = module.partition(".")[0].removeprefix("dovetail_").replace("core", "kernel")
    where = {n: (plugin, f"{module}:{n}") for n in found.__all__ if n not in children}
    where |= {c: (plugin, f"dovetail.{name}.{c}") for c in children}
    for owner in PLUGINS:  # names that other plugins add to this surface
        names = import_module(f"dovetail_{owner}.plugin").MANIFEST.names
        added = {n.removeprefix(f"{name}."): t for n, t in names.items()}
        where |= {n: (owner, t) for n, t in added.items() if n not in names and "." not in n}
    return lazy_module(f"``import dovetail.{name}``: the names of {module}.", where, [])


def lazy_module(doc: str, where: dict[str, tuple[str, str]], more: list[str]) -> str:
    """The text of a module that loads its names on first use."""
    lines = [f'"""{doc}"""', "", "from __future__ import annotations", ""]
    lines += ["from typing import TYPE_CHECKING", ""]
    lines += [
        "from dovetail_core.registry.facade_names import facade_getattr as _facade_getattr",
        "",
    ]
    lines += ["if TYPE_CHECKING:"]
    for name, (_, target) in sorted(where.items()):
        module, _, attribute = target.partition(":")
        here = module.startswith("dovetail.") and not attribute
        lines.append(f"    from {'.' if here else module} import {attribute or name} as {name}")
    lines += ["", *more, "_WHERE = {"]
    lines += [f'    "{n}": ("{p}", "{t}"),' for n, (p, t) in sorted(where.items())]
    lines += ["}", "__all__ = ["]
    lines += [f'    "{n}",' for n in sorted(where)]
    lines += ["]", "", "__getattr__ = _facade_getattr(__name__, _WHERE)", "", ""]
    lines += ["def __dir__() -> list[str]:", "    return sorted({*globals(), *_WHERE})", ""]
    return "\n".join(lines)


def top() -> str:
    """The text of ``dovetail/__init__.py``."""
    where = {n: ("kernel", t) for n, t in KERNEL.items()}
    for plugin in PLUGINS:
        manifest = import_module(f"dovetail_{plugin}.plugin").MANIFEST
        where |= {n: (plugin, t) for n, t in manifest.names.items() if "." not in n}
        where |= {n: (plugin, f"dovetail.{n}") for n in manifest.surfaces}
    for name in SURFACES:
        if "." not in name and name not in where:
            where[name] = ("kernel", f"dovetail.{name}")
    doc = "Dovetail: what users import. Every name is loaded on first use (PEP 562)."
    return lazy_module(doc, where, ['__version__ = "0.1.0"'])


def formatted(path: Path, text: str) -> str:
    """The text as ruff formats it."""
    for command in (["check", "--select", "I", "--fix", "--quiet"], ["format"]):
        full = [sys.executable, "-m", "ruff", *command, "--stdin-filename", str(path), "-"]
        text = subprocess.run(full, input=text, capture_output=True, text=True, check=True).stdout
    return text


def texts() -> dict[Path, str]:
    """Every file of the facade and its text."""
    base = ROOT / "facade" / "dovetail"
    found = {base / "__init__.py": top()}
    for name, module in SURFACES.items():
        children = [n.split(".")[1] for n in SURFACES if n.startswith(name + ".")]
        is_package = bool(children)
        path = base.joinpath(*name.split("."))
        target = path / "__init__.py" if is_package else path.with_suffix(".py")
        found[target] = surface(name, module, children)
    return {path: formatted(path, text) for path, text in found.items()}


def main() -> int:
    """Write the files, or with ``--check`` say which are out of date."""
    stale = [p for p, t in texts().items() if not p.exists() or p.read_text() != t]
    if "--check" in sys.argv:
        for p in stale:
            print(f"{p.relative_to(ROOT)} is out of date: run python tools/make_facade.py")
        return bool(stale)
    for p, text in texts().items():
        p.parent.mkdir(parents=True, exist_ok=True)
        p.write_text(text)
    print(f"{len(stale)} files written")
    return 0


if __name__ == "__main__":
    sys.exit(main())
