"""How does the time for nested programs grow with their depth? Dovetail and JAX, in turn.

    python benchmarks/growth.py [--peer PYTHON] [--runs 3] [--only cond scan ...] [--write]

One construct is nested in itself 10, 20, 50 and 100 deep, and traced, transformed, lowered, and
compiled. A figure is the least of some runs on new functions, in milliseconds of the processor's
time, which other work disturbs less; compiling is XLA's part, measured apart. The exponent is
fitted to the figures: 1 is linear, and what is returned from level to level makes the program of a
gradient itself grow with the square. Where a library's own recursion ends at less the cell says so;
after one that takes too long deeper ones are left out.

PYTHON is the interpreter of an environment with JAX; by default that of ``make bench``. With
``--write`` the table goes into a section of its own of RESULTS.md.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any

import run
import sections

DEPTHS = (10, 20, 50, 100)
LENGTHS = (1000, 10_000)
PATIENCE = 10.0
"""Seconds for one figure after which deeper ones are left out."""
TITLE = "## Growth with depth"
Function = Callable[[Any], Any]
Figures = dict[str, dict[str, Any]]


def constructs(lib: Any) -> dict[str, Callable[[Function], Function]]:
    """Ways to put a function into another one; ``lib`` is ``dovetail`` or ``jax``."""
    lax = lib.lax

    def custom_jvp(f: Function) -> Function:
        g = lib.custom_jvp(lambda x: f(x) * 0.5)
        g.defjvp(lambda primals, tangents: (g(*primals), tangents[0] * 0.5))
        return g

    def custom_vjp(f: Function) -> Function:
        g = lib.custom_vjp(lambda x: f(x) * 0.5)
        g.defvjp(lambda x: (g(x), x), lambda x, ct: (ct * x,))
        return g

    def switch(f: Function) -> Function:
        def branches(x: Any) -> list[Function]:
            return [lambda x: x, lambda x: f(x) * 0.5, lambda x: -x]

        return lambda x: lax.switch(lax.convert_element_type(x > 0, "int32"), branches(x), x)

    return {
        "cond": lambda f: lambda x: lax.cond(x > 0, lambda x: f(x) * 0.5, lambda x: x, x),
        "switch": switch,
        "while": lambda f: (
            lambda x: lax.while_loop(
                lambda s: s[0] < 1, lambda s: (s[0] + 1, f(s[1]) * 0.5), (0, x)
            )[1]
        ),
        "fori": lambda f: lambda x: lax.fori_loop(0, 1, lambda i, c: f(c) * 0.5, x),
        "scan": lambda f: lambda x: lax.scan(lambda c, _: (f(c) * 0.5, None), x, None, length=1)[0],
        "jit": lambda f: lib.jit(lambda x: f(x) * 0.5),
        "checkpoint": lambda f: lib.checkpoint(lambda x: f(x) * 0.5),
        "custom_jvp": custom_jvp,
        "custom_vjp": custom_vjp,
    }


def transformations(lib: Any, np: Any) -> dict[str, Callable[[Function], Callable[[], Any]]]:
    """What is timed of a function: what each returns is called once."""
    x, xs = np.float32(1.5), np.ones(3, np.float32)
    staged = lib.make_jaxpr

    def compile(f: Function) -> Callable[[], Any]:
        lowered = lib.jit(f).lower(x)
        return lowered.compile

    return {
        "trace": lambda f: lambda: staged(f)(x),
        "lower": lambda f: lambda: lib.jit(f).lower(x),
        "jvp": lambda f: lambda: staged(lambda x: lib.jvp(f, (x,), (x,)))(x),
        "vmap": lambda f: lambda: staged(lib.vmap(f))(xs),
        "grad": lambda f: lambda: staged(lib.grad(f))(x),
        "grad, lower": lambda f: lambda: lib.jit(lib.grad(f)).lower(x),
        "compile (XLA)": compile,
    }


def nested(construct: Callable[[Function], Function], depth: int, innermost: Function) -> Function:
    """A function in itself, so and so deep."""
    f = innermost
    for _ in range(depth):
        f = construct(f)
    return f


def chain(sin: Function, length: int) -> Function:
    """One operation after another."""

    def f(x: Any) -> Any:
        for _ in range(length):
            x = sin(x)
        return x

    return f


def least(make: Callable[[], Callable[[], Any]], runs: int) -> float | str:
    """Milliseconds of a call of what ``make`` makes, the least of some; or what it raised."""
    found = math.inf
    for _ in range(runs):
        try:
            timed = make()
            start = time.process_time()
            timed()
        except (RecursionError, SystemError):
            return "recursion"
        except Exception as e:  # a while loop has no gradient
            return "none" if "while" in str(e) or "reverse" in str(e).lower() else type(e).__name__
        seconds = time.process_time() - start
        found = min(found, seconds)
        if seconds > PATIENCE:
            break
    return found * 1e3


def series(make: Callable[[int], Callable[[], Any]], sizes: tuple[int, ...], runs: int) -> Any:
    """A figure for each size, until one takes too long or is none."""
    figures: dict[str, float | str] = {}
    least(lambda: make(2), 1)  # what happens once in a process
    for n in sizes:
        found = figures[str(n)] = least(lambda n=n: make(n), runs)
        if not isinstance(found, float) or found > PATIENCE * 1e3:
            break
    return figures


def child(name: str, runs: int, only: list[str]) -> Figures:
    """All figures of one library."""
    lib, lnp, np = import_module(name), import_module(f"{name}.numpy"), import_module("numpy")
    figures: Figures = {}
    kinds = transformations(lib, np)
    for what, construct in constructs(lib).items():
        for kind, timed in kinds.items():
            if what in only:
                key = f"{what}: {kind}"
                figures[key] = series(
                    lambda n, c=construct, t=timed: t(nested(c, n, lnp.sin)), DEPTHS, runs
                )
                print(key, figures[key], file=sys.stderr, flush=True)
    for kind, timed in kinds.items():
        if "chain" in only and "compile" not in kind:
            figures[f"chain: {kind}"] = series(
                lambda n, t=timed: t(chain(lnp.sin, n)), LENGTHS, runs
            )
    return figures


def exponent(figures: dict[str, Any]) -> float | None:
    """The slope of a line through the figures, both axes logarithmic."""
    points = [(math.log(int(n)), math.log(t)) for n, t in figures.items() if isinstance(t, float)]
    if len(points) < 2:
        return None
    mean_x, mean_y = (sum(p[i] for p in points) / len(points) for i in (0, 1))
    slope = sum((x - mean_x) * (y - mean_y) for x, y in points)
    return slope / sum((x - mean_x) ** 2 for x, _ in points)


def table(ours: Figures, theirs: Figures, sizes: tuple[int, ...], chains: bool) -> list[str]:
    """A row for each construct and transformation, Dovetail's figure before JAX's."""
    head = ["nested", *[f"{n}" for n in sizes], "exponent"]
    rows = [head, ["---"] * len(head)]
    for key, mine in ours.items():
        if key.startswith("chain") == chains:
            other = theirs.get(key, {})
            cells = [f"{_cell(mine, n)} / {_cell(other, n)}" for n in sizes]
            slopes = [exponent(mine), exponent(other)]
            both = " / ".join("–" if s is None else f"{s:.1f}" for s in slopes)
            rows.append([key, *cells, both])
    return ["| " + " | ".join(row) + " |" for row in rows]


def _cell(figures: dict[str, Any], n: int) -> str:
    found = figures.get(str(n), "–")
    return found if isinstance(found, str) else f"{found:.3g}"


def report(ours: Figures, theirs: Figures, load: str) -> list[str]:
    """The section, without its title."""
    lines = [
        "Milliseconds of the processor's time, Dovetail / JAX, by how deep a construct is nested",
        "in itself (`growth.py` says what each is), and the exponent fitted to them.",
        "“recursion”: Python's stack of 1000 frames does not hold it; “none”: there is no such",
        "derivative; “–”: left out, because the one before failed or took over",
        f"{PATIENCE:g} s. Load before the run:",
        f"{load}.",
        "",
        *table(ours, theirs, DEPTHS, False),
    ]
    if any(key.startswith("chain") for key in ours):
        lines += ["", "Chains: so many applications of `sin`, one to the other's result.", ""]
        lines += table(ours, theirs, LENGTHS, True)
    return lines


def measured(python: str, lib: str, runs: int, only: list[str]) -> Figures:
    """The figures of a library, measured in a process of its own."""
    command = [python, __file__, "--child", lib, "--runs", str(runs), "--only", *only]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    """Measure both, and print the table."""
    names = [*constructs(_Nothing()), "chain"]
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--peer", help="interpreter of an environment with JAX")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only", nargs="+", choices=names, default=names)
    parser.add_argument("--write", action="store_true", help="renew the section of RESULTS.md")
    parser.add_argument("--child", choices=["dovetail", "jax"], help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        print(json.dumps(child(args.child, args.runs, args.only)))
        return
    load = run.machine.load()
    peer = args.peer or str(run.peer_python())
    ours = measured(sys.executable, "dovetail", args.runs, args.only)
    theirs = measured(peer, "jax", args.runs, args.only)
    lines = report(ours, theirs, load)
    print("\n".join(lines))
    if args.write:
        sections.write("growth.py", TITLE, lines)


class _Nothing:
    """In place of a library, where only the names of constructs are asked for."""

    lax = None


if __name__ == "__main__":
    main()
