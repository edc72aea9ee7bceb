"""Words that the code of the product does not use, with those that it uses in their stead.

`docs/reference/glossary.md` gives the words of the field. Three things are counted: names of
modules, functions, classes, parameters, variables and attributes that contain a word of
:data:`WORDS`; docstrings that begin with a word of :data:`OPENINGS`, and so do not say first what
something returns or does; the word "place", which stands for a place in the user's code only.

Run with folders or files (or none, for all): prints each occurrence, and exits with 1 if there are
more than :data:`BOUNDS` allow.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from product import product_files

ROOT = Path(__file__).parent.parent

WORDS = {
    "anew": "uncached, again",
    "apart": "split, separated",
    "aside": "disabled, ignored",
    "asked": "requested",
    "at_rest": "cached, idle",
    "begun": "started",
    "came": "arrived",
    "elsewhere": "the name of the other device, module or branch",
    "found": "result, match",
    "gone": "removed, collected",
    "heard": "received",
    "laid": "layout, placed",
    "left_alone": "unaffected, unchanged",
    "lend": "borrow",
    "lent": "borrowed",
    "look": "inspect, snapshot",
    "looks": "inspects",
    "meanwhile": "background, concurrent",
    "meant": "intended",
    "misfit": "mismatch",
    "moving": "differentiated, mapped",
    "nobody": "none",
    "place": "position, index, source location, placement",
    "places": "positions, indices, source locations, placements",
    "said": "declared, stated",
    "says": "declares, states",
    "set_aside": "disabled",
    "stands": "represents",
    "stands_for": "represents, alias",
    "told": "declared, reported",
    "twin": "counterpart, equal",
    "whole": "complete, undivided, unsplit",
    "wholes": "complete ones",
}
"""Words, and two words of a name together, by what they are replaced by."""

ALLOWED = {
    "emitter.py: as_told": "a method of the builder for lowering rules",
    "in_place": "an operation that writes into its operand",
    "install_if_asked": "a function that installed ``.pth`` files call",
    "detecting.py: Place": "the result of detectors of launchers, a public name",
    "place": "a function of NumPy's",
    "traits.py: places": "the shardings that a primitive names, a field of ``Traits``",
    "place_p": "the primitive that places a value in a memory of its device",
}
"""Names that are words of the field all the same, and some of one file."""

OPENINGS = re.compile(r"(What|Whether|How|Where|Which|Who|When)\b")

BOUNDS = {"names": 0, "openings": 0, "place": 100}


def words_of(name: str) -> Iterator[str]:
    """The words of an identifier, and each two that follow each other."""
    parts = [p.lower() for p in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name)]
    yield from parts
    yield from map("_".join, pairwise(parts))


def names_in(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Lines and names of what a module defines, at any depth."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.lineno, node.name
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.attr


def bad_names(file: Path, tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Lines and complaints about the names of a file."""
    for line, name in [(1, file.stem), *names_in(tree)]:
        words = set(words_of(name))
        known = name in ALLOWED or f"{file.name}: {name}" in ALLOWED
        if known or not words.isdisjoint(ALLOWED.keys() - WORDS.keys()):
            continue
        for word in sorted(WORDS.keys() & words):
            yield line, f"{name}: {word!r}; use {WORDS[word]}"


def bad_openings(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Lines and complaints about docstrings that do not begin with what is returned or done."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for node in ast.walk(tree):
        if not isinstance(node, documented):
            continue
        doc = ast.get_docstring(node)
        if doc is not None and OPENINGS.match(doc):
            line = node.body[0].lineno
            yield line, f"a docstring begins with {doc.split()[0]!r}: say what is returned or done"


def places_in(text: str) -> Iterator[tuple[int, str]]:
    """Lines with the word "place" or "places", outside of names."""
    for number, line in enumerate(text.splitlines(), 1):
        for _ in re.findall(r"\bplaces?\b", line):
            yield number, f"place: {line.strip()}"


def complaints(file: Path) -> dict[str, list[tuple[int, str]]]:
    """The complaints about a file, by their kind."""
    text = file.read_text()
    tree = ast.parse(text)
    return {
        "names": sorted(set(bad_names(file, tree))),
        "openings": list(bad_openings(tree)),
        "place": list(places_in(text)),
    }


def main(paths: Sequence[str], root: Path = ROOT, bounds: dict[str, int] = BOUNDS) -> int:
    """Print the complaints of each kind that has more than its bound; 1 if there is one."""
    count = dict.fromkeys(bounds, 0)
    lines: dict[str, list[str]] = {kind: [] for kind in bounds}
    for file in product_files(root, map(root.joinpath, paths)):
        for kind, of in complaints(file).items():
            count[kind] += len(of)
            lines[kind] += [f"{file.relative_to(root).as_posix()}:{n}: {text}" for n, text in of]
    over = [kind for kind in bounds if count[kind] > bounds[kind] or (paths and count[kind])]
    for kind in over:
        print(*lines[kind], sep="\n")
    print(", ".join(f"{kind}: {count[kind]} (at most {bounds[kind]})" for kind in bounds))
    return int(any(count[kind] > bounds[kind] for kind in bounds))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
