"""``results.json``: what the last whole run of each library's tests and programs found.

It is part of the repository, so that ``docs/ecosystem.md`` can be written anew from runs of single
libraries.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from .libraries import HERE, Library

PLACE = HERE / "results.json"


class Tests(NamedTuple):
    """How many tests of a version of a library pass here, of those that pass on JAX.

    Every so many tests of each file were run; ``suite`` is the version that they are of.
    """

    version: str
    here: int
    there: int
    failed_there: int
    every: int
    suite: str


class Programs(NamedTuple):
    """The programs of a version of a library: medians of so many runs, in seconds.

    Per program its times on each side, and what is wrong with it, if anything.
    """

    version: str
    runs: int
    programs: dict[str, tuple[dict[str, dict[str, float | None]], str]]


def _read() -> dict[str, dict[str, Any]]:
    return json.loads(PLACE.read_text()) if PLACE.exists() else {}


def tests_of(library: Library) -> Tests | None:
    """What the tests of a library gave, if they were run."""
    result = _read().get(library.name, {}).get("tests")
    return Tests(**result) if result else None


def programs_of(library: Library) -> Programs | None:
    """What the programs of a library gave, if they were run."""
    result = _read().get(library.name, {}).get("programs")
    if not result:
        return None
    every = {name: (times, problem) for name, (times, problem) in result["programs"].items()}
    return Programs(result["version"], result["runs"], every)


def keep(library: Library, result: Tests | Programs) -> None:
    """Put a result in the place of the one before."""
    everything = _read()
    kind = "tests" if isinstance(result, Tests) else "programs"
    everything.setdefault(library.name, {})[kind] = _short(result._asdict())
    PLACE.write_text(json.dumps(everything, indent=1, sort_keys=True) + "\n")


def _short(x: Any) -> Any:
    """Times with four digits."""
    if isinstance(x, dict):
        return {name: _short(value) for name, value in x.items()}
    if isinstance(x, tuple | list):
        return [_short(value) for value in x]
    return float(f"{x:.4g}") if isinstance(x, float) else x
