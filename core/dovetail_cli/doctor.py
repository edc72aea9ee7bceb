"""``dovetail doctor``: the state of this installation, its problems and their remedies."""

from __future__ import annotations

import os
import platform
import warnings
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError, entry_points, version
from typing import Any

from dovetail_base.errors import DovetailError, PluginError
from dovetail_core import KERNEL_API, registry
from dovetail_hooks import manager
from dovetail_xla import version as jaxlib_range

from . import rules
from .manifests import manifest_problems
from .render import count, fields, style

help = "check the installation: versions, plugins, backends, conflicts, holes"
keep_going = True  # this command reports what is wrong with plugins instead of stopping at it

Line = tuple[str, str]


class _Report:
    """A report that prints its lines at once and counts the problems among them."""

    def __init__(self) -> None:
        self.problems = 0

    def section(self, title: str, lines: Callable[[], Iterator[Line]]) -> None:
        """Print what ``lines`` yields; an exception in it is a problem, and the report goes on."""
        result: list[Line] = []
        try:
            for line in lines():
                result.append(line)
        except Exception as e:  # whatever is broken, the other sections are wanted the more
            result.append(("problem", f"{type(e).__name__}: {e}"))
        self.problems += sum(name.startswith("problem") for name, _ in result)
        print(style(title, "bold"))
        print(fields(result or [("none", "")]) + "\n")


def configure(parser: ArgumentParser) -> None:
    """Add no arguments."""


def run(args: Namespace) -> int:
    """Print the report; returns 1 if something is wrong."""
    report = _Report()
    report.section("Versions", _versions)
    report.section("Environment", _environment)
    report.section("Plugins", _plugins)
    report.section("Backends", _backends)
    report.section("Matrix", _matrix)
    report.section("From plugins", _hooks)
    n = report.problems
    print(style("All is well.", "green") if n == 0 else style(f"{count(n, 'problem')}.", "red"))
    return int(n > 0)


def _version(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "not installed as a distribution"


def _versions() -> Iterator[Line]:
    yield "dovetail-core", f"{_version('dovetail-core')} (kernel API {KERNEL_API})"
    yield "Python", f"{platform.python_version()} on {platform.system()} {platform.machine()}"
    low, high = (".".join(map(str, v)) for v in (jaxlib_range.OLDEST, jaxlib_range.FIRST_UNKNOWN))
    yield "jaxlib", f"{_version('jaxlib')} (from {low}, below {high})"
    for name in ("numpy", "ml_dtypes", "pluggy"):
        yield name, _version(name)


def _environment() -> Iterator[Line]:
    for name in sorted(os.environ):
        if name.startswith("DOVETAIL_") or name in ("XLA_FLAGS", "JAX_PLATFORMS"):
            yield name, os.environ[name]


def _plugins() -> Iterator[Line]:
    result = registry()
    yield "active", ", ".join(result.active) or "none"
    for p in result.plugins.values():
        if p.problem:
            kind = "disabled" if p.problem.startswith("disabled") else "problem"
            yield kind, f"{p.name} of {p.distribution} {p.version}: {p.problem}"
    for clash in result.clashes.values():
        yield "problem", clash
    shown = {f"{p.whose} is set aside: {p.problem}" for p in result.plugins.values()}
    for text, _ in result.notices:
        if text not in shown and text not in result.clashes.values():
            yield "problem", text
    for name, manifest in result.active.items():
        for problem in manifest_problems(result.plugins[name], manifest):
            yield "problem", problem


def _backends() -> Iterator[Line]:
    for name in sorted(registry().entries("backends")):
        yield name, _diagnosis(name)
    for ep in entry_points(group="jax_plugins"):
        dist = f"{ep.dist.name} {ep.dist.version}" if ep.dist else ep.value
        yield "PJRT plugin", f"{ep.name} of {dist}"


def _diagnosis(name: str) -> str:
    """The state of a backend as text: "works", or what its ``problem()`` says is missing."""
    try:
        problem: Any = getattr(registry().backend(name), "problem", "")
        missing = problem() if callable(problem) else problem
    except Exception as e:  # a backend's module may fail in any way
        missing = f"{type(e).__name__}: {e}"
    return f"not available: {missing}" if missing else "works"


def _matrix() -> Iterator[Line]:
    with warnings.catch_warnings(action="ignore"):  # about modules of primitives: reported above
        primitives = rules.all_primitives()
    yield "primitives", str(len(primitives))
    for name in rules.table_names():
        try:
            with warnings.catch_warnings(action="ignore"):  # they are reported below
                table = rules.load_table(name)
            by_name = {n: rules.rule(table, p) for n, p in primitives.items()}
        except PluginError:
            yield name, "cannot be loaded: see above"
            continue
        except DovetailError as e:
            yield f"problem {name}", str(e)
            continue
        for problem in table.problems:
            yield f"problem {name}", f"rules set aside: {problem}"
        for problem in rules.broken(by_name):
            yield f"problem {name}", problem
        result = [*by_name.values()]
        kinds = [r.kind for r in result]
        shown = [(k, kinds.count(k)) for k in dict.fromkeys(kinds)]
        own = Counter(p for r in result for p in r.platforms)
        words = [f"{n} {k if n == 1 or k != 'hole' else 'holes'}" for k, n in shown]
        yield name, ", ".join([*words, *(f"{n} for {p} alone" for p, n in sorted(own.items()))])


def _hooks() -> Iterator[Line]:
    for lines in manager().hook.dovetail_environment():
        yield from lines.items()
