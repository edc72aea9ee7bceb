"""The source files of the product, and reports of what the checks of them refuse."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from check_circles import packages

OUTSIDE = {"tests", "template", "examples", "build", "__pycache__"}
"""Folders whose files are not the product's."""


def product_files(root: Path, paths: Iterable[Path] = ()) -> list[Path]:
    """The Python files of all packages, or those of the product below some paths."""
    below = [
        f for p in [*paths] or packages(root) for f in ([p] if p.is_file() else p.rglob("*.py"))
    ]
    return sorted({f for f in below if not OUTSIDE & set(f.relative_to(root).parts)})


def report(refused: Iterable[tuple[str, int, str]], allowed: Mapping[str, str], tool: str) -> int:
    """Print what is refused and not allowed, and what is allowed and not there; 1 if any is.

    Args:
        refused: keys ``file: name``, lines and messages.
        allowed: reasons by key.
        tool: the file that has ``allowed``.
    """
    result = sorted(refused)
    wrong = [(key, line, text) for key, line, text in result if key not in allowed]
    for key, line, text in wrong:
        print(f"{key.partition(':')[0]}:{line}: {text}")
    unused = allowed.keys() - {key for key, _, _ in result}
    for key in sorted(unused):
        print(f"{key}: an exception in tools/{tool} that nothing needs")
    return int(bool(wrong or unused))
