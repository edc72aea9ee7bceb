"""The command line ``dovetail``: plugins, matrix, explain, doctor, and commands of plugins."""

from __future__ import annotations

from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run ``dovetail`` with these arguments (by default the process's own); returns the status."""
    from .run import run

    return run(argv)
