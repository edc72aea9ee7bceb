"""The command line ``dovetail``: plugins, matrix, explain, doctor, and commands of plugins."""

from __future__ import annotations

from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run ``dovetail`` with these arguments (the process's own by default); the exit status."""
    from .run import run

    return run(argv)
