"""``dovetail new``: a distribution with a working plugin, to begin a plugin with.

It is made from the template beside this module, a distribution with one of each part, by two rules:
files in a folder named after a part belong to that part, and so does a line that ends in a comment
``with PART, ...``. All other files and lines are for every plugin. The template's name, ``acme``,
becomes the plugin's.
"""

from __future__ import annotations

import re
from argparse import ArgumentParser, Namespace
from collections.abc import Collection, Iterator
from importlib.util import find_spec
from keyword import iskeyword
from pathlib import Path

from dovetail_base.errors import RegistryError
from dovetail_core import discovery, registry

from .render import fields, style

help = "write a distribution with a plugin to begin with, and tests that pass"

PARTS = {
    "primitive": "an operation with its type rule, decomposition, rules and samples",
    "transformation": "a rule table with its carrier, trace, rules, law and public function",
    "backend": "a backend that runs whole programs: jit(f, backend=NAME)",
    "type": "a high type, a kind of values made of arrays, and operations on them",
}
DEFAULT = ("primitive",)

_TEMPLATE = Path(__file__).with_name("template")
_PLACEHOLDER = "acme"
_PART = "|".join(PARTS)
_OF_PARTS = re.compile(rf" +(?:#|<!--) with ((?:{_PART})(?:, (?:{_PART}))*)(?: -->)?$")
_SINGLE = re.compile(r'\(\n +("[^"\n]+",)\n +\)')  # a tuple that now fits on one line
_NAME = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*")


def configure(parser: ArgumentParser) -> None:
    """Add the arguments: the plugin's name, its parts, the folder to write it to."""
    parser.add_argument("name", metavar="NAME", help="the plugin's name, as zeta")
    parser.add_argument(
        "--with",
        dest="parts",
        metavar="PART,...",
        default=",".join(DEFAULT),
        help=f"what is in it: {', '.join(PARTS)}, or several of these with commas between "
        f"(default: {', '.join(DEFAULT)}, with which most plugins begin)",
    )
    parser.add_argument(
        "--to", metavar="FOLDER", help="write into this new folder (default: dovetail-NAME)"
    )


def run(args: Namespace) -> int:
    """Write the distribution and print what to do with it."""
    _check_name(args.name)
    parts = _chosen(args.parts)
    folder = Path(args.to or f"dovetail-{args.name}")
    if folder.exists() or folder.is_symlink():
        raise RegistryError(f"{folder} exists already. Name a new folder with --to.")
    try:
        write(folder, args.name, parts)
    except OSError as e:
        raise RegistryError(f"{folder} cannot be written: {e}") from e
    print(f"{style(str(folder), 'bold')}: the plugin {args.name!r}, with\n")
    print(fields([(part, PARTS[part]) for part in parts]))
    print(f"\nNext:\n\n  cd {folder}\n  pip install -e '.[test]'\n  pytest\n\nREADME.md says more.")
    return 0


def write(folder: Path, name: str, parts: Collection[str]) -> None:
    """Write the plugin ``name`` with these parts into ``folder``, which is made."""
    for relative, text in files(parts):
        path = folder / relative.replace(_PLACEHOLDER, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.replace(_PLACEHOLDER, name), encoding="utf-8")


def files(parts: Collection[str]) -> Iterator[tuple[str, str]]:
    """The template's files that belong to ``parts`` or to all: their paths and contents."""
    others = PARTS.keys() - set(parts)
    for path in sorted(_TEMPLATE.rglob("*")):
        relative = path.relative_to(_TEMPLATE)
        passed_over = {*others, "__pycache__"} & set(relative.parts)
        hidden = any(p.startswith(".") or p.endswith(".egg-info") for p in relative.parts)
        if path.is_file() and not passed_over and not hidden:
            yield relative.as_posix(), _cut(path.read_text(encoding="utf-8"), parts)


def _cut(text: str, parts: Collection[str]) -> str:
    """The lines that belong to ``parts`` or to all, without the comments that mark them."""
    kept: list[str] = []
    for line in text.splitlines():
        mark = _OF_PARTS.search(line)
        if mark is None:
            kept.append(line)
        elif not set(parts).isdisjoint(mark[1].split(", ")):
            kept.append(line[: mark.start()])
    return _SINGLE.sub(r"(\1)", "".join(f"{line}\n" for line in kept))


def _chosen(given: str) -> list[str]:
    requested = {p.strip() for p in given.split(",")}
    unknown = sorted(requested - PARTS.keys())
    if unknown:
        raise RegistryError(
            f"--with {given!r}: there is no part {unknown[0]!r}. Choose from {', '.join(PARTS)}, "
            "with commas between."
        )
    return [p for p in PARTS if p in requested]


def _check_name(name: str) -> None:
    """Raise RegistryError unless a new plugin may have that name in this installation."""
    if not _NAME.fullmatch(name) or iskeyword(name):
        raise RegistryError(
            f"a plugin cannot be called {name!r}: use lower-case letters, digits and single "
            "underscores between them, with a letter first, and no word of Python's own."
        )
    owner = _owner(name)
    if owner:
        raise RegistryError(f"{owner}. Choose another name.")


def _owner(name: str) -> str:
    """A sentence about who has the name already; an empty string if it is free."""
    result = registry()
    if name in result.plugins:
        return f"a plugin {name!r} is installed already, by {_whose(result.plugins[name])}"
    for field, what in (("names", "dovetail.{}"), ("surfaces", "dovetail.{}"), ("backends", "{}")):
        for plugin, manifest in result.active.items():
            if name in getattr(manifest, field):
                spelt = what.format(name)
                return f"{spelt} is taken, by the {field} of plugin {plugin!r}"
    if find_spec(f"dovetail_{name}") is not None:
        return f"a package dovetail_{name} is installed already"
    return ""


def _whose(plugin: discovery.Plugin) -> str:
    return f"{plugin.distribution} {plugin.version}"
