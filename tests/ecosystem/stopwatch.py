"""``python stopwatch.py PROGRAM``: runs a program and prints as JSON how long its parts took.

A program is a module with a generator ``run``, which yields after each of its steps and returns
numbers. What is yielded is waited for. The imports are timed from when whoever called started the
process (``ECOSYSTEM_BEGUN``): what an environment imports before a program does, counts. This file
knows neither JAX nor Dovetail, but what its own interpreter has as ``jax``.
"""

from __future__ import annotations

import ast
import importlib
import json
import os
import statistics
import sys
import time
from pathlib import Path
from types import ModuleType
from typing import Any


def main(path: str) -> None:
    tree = ast.parse(Path(path).read_text())
    imports = [n for n in tree.body if isinstance(n, ast.Import | ast.ImportFrom)]
    program = sys.modules["program"] = ModuleType("program")
    names = program.__dict__
    start = float(os.environ.get("ECOSYSTEM_BEGUN") or time.time())
    exec(compile(ast.Module(imports, []), path, "exec"), names)
    imported = time.time()
    exec(compile(tree, path, "exec"), names)
    steps = names["run"]()
    seconds: list[float] = []
    wait = importlib.import_module("jax").block_until_ready
    begun = time.perf_counter()
    while True:
        try:
            wait(next(steps))
        except StopIteration as end:
            numbers = end.value
            break
        now = time.perf_counter()
        seconds.append(now - begun)
        begun = time.perf_counter()
    told = {
        "import": imported - start,
        "first": seconds[0],
        "steady": statistics.median(seconds[1:]) if seconds[1:] else None,
        "numbers": {name: _plain(value) for name, value in numbers.items()},
    }
    print(json.dumps(told))


def _plain(value: Any) -> Any:
    """Numbers as JSON has them: nested lists of floats, or text."""
    if isinstance(value, str | int):
        return value
    return value.astype(float).tolist() if hasattr(value, "tolist") else float(value)


if __name__ == "__main__":
    # Not the folder of this file, in which there are modules of other names.
    sys.path.pop(0)
    main(sys.argv[1])
