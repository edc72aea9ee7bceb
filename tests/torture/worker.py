"""A process that makes attacks and tells the one that started it about each, line by line."""

from __future__ import annotations

import json
import os
import random
import sys
import traceback
from importlib import import_module
from typing import Any


def work(area: str, seed: int, first: int, count: int) -> None:
    """Make attacks ``first`` to ``first + count`` of an area."""
    tell = _teller()
    module = import_module(f"torture.areas.{area}")
    for number in range(first, first + count):
        tell(number=number)
        try:
            rng = random.Random(f"{area} {seed} {number}")
            module.attempt(rng, lambda kind: tell(kind=kind))
            tell(done=True)
        except BaseException:  # an interrupt that comes too late is a failure like others
            tell(done=True, failure=traceback.format_exc())


def _teller() -> Any:
    """A function that writes a line to what was standard output; what is printed goes to stderr."""
    out = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)

    def tell(**facts: Any) -> None:
        out.write(json.dumps(facts) + "\n")
        out.flush()

    return tell


if __name__ == "__main__":
    work(sys.argv[1], *map(int, sys.argv[2:]))
