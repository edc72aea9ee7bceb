"""What does a bounded number of kept states cost? Gradients of 10,000 steps of a 16 kB state.

    python benchmarks/loop_checkpointing.py [--peer PYTHON] [--rounds 3] [--json FILE]

A figure is the time of a gradient as a multiple of the time of the plain forward loop, both
compiled, taken in turn in one process; the median over the rounds. PYTHON is the interpreter of an
environment with JAX and Equinox, whose checkpointed loop is measured beside.

Besides: the memory that the compiler plans for 100,000 steps of a carry of 1 MB, the time to
compile against steps and snapshots, and a real run of 10,000 steps of 1 MB under a limit on the
process's address space, in which the plain loop fails.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any

STEPS = 10_000
STATE = 4096  # float32: 16 kB
TARGETS = {20: 7.0, 5: 15.0}
Timed = Callable[[], Any]


def step_of(lib: Any) -> Callable[[Any], Any]:
    """One step of a nonlinear map; ``lib`` is a module in NumPy's manner."""
    return lambda c: lib.tanh(1.0001 * c + 0.01 * lib.sin(c))


def dovetail_functions() -> dict[str, Timed]:
    """Forward and gradients, compiled and run once."""
    import dovetail as dt
    import dovetail.numpy as dnp

    step, x = step_of(dnp), dnp.linspace(0.0, 1.0, STATE)

    def run(x: Any, scheme: Any = None) -> Any:
        c, _ = dt.lax.scan(lambda c, _: (step(c), None), x, length=STEPS, checkpoint=scheme)
        return (c * c).sum()

    functions = {"forward": dt.jit(run)}
    for s in TARGETS:
        for scheme in (dt.Binomial(snapshots=s), dt.Online(snapshots=s)):
            name = f"{type(scheme).__name__} {s}"
            functions[name] = dt.jit(dt.grad(lambda x, scheme=scheme: run(x, scheme)))
    functions["Periodic 100"] = dt.jit(dt.grad(lambda x: run(x, dt.Periodic(every=100))))
    return {k: lambda f=f: f(x).block_until_ready() for k, f in functions.items()}


def equinox_functions() -> dict[str, Timed]:
    """The same with Equinox's checkpointed loop."""
    # By name, because this function alone runs in the peer's environment.
    eqxi, jax, jnp = map(import_module, ("equinox.internal", "jax", "jax.numpy"))
    step, x = step_of(jnp), jnp.linspace(0.0, 1.0, STATE)

    def plain(x: Any) -> Any:
        c, _ = jax.lax.scan(lambda c, _: (step(c), None), x, length=STEPS)
        return (c * c).sum()

    def run(x: Any, checkpoints: int) -> Any:
        _, c = eqxi.while_loop(
            lambda s: s[0] < STEPS, lambda s: (s[0] + 1, step(s[1])), (0, x),
            max_steps=STEPS, kind="checkpointed", checkpoints=checkpoints,
        )  # fmt: skip
        return (c * c).sum()

    functions = {"forward": jax.jit(plain)}
    for s in TARGETS:
        functions[f"Equinox {s}"] = jax.jit(jax.grad(lambda x, s=s: run(x, s)))
    return {k: lambda f=f: f(x).block_until_ready() for k, f in functions.items()}


def multiples(functions: dict[str, Timed], rounds: int) -> dict[str, float]:
    """The time of each function as a multiple of that of ``forward``: medians."""
    for f in functions.values():
        f()
    forward = functions.pop("forward")
    found: dict[str, list[float]] = {k: [] for k in functions}
    for _ in range(rounds):
        for name, f in functions.items():
            one = min(timed(forward) for _ in range(3))
            found[name].append(timed(f) / one)
    return {k: statistics.median(v) for k, v in found.items()}


def timed(f: Timed) -> float:
    """Seconds of one call."""
    start = time.perf_counter()
    f()
    return time.perf_counter() - start


def gradient(n: int, size: int, scheme: Any) -> Any:
    """A gradient of n steps of a carry of ``size`` numbers, staged and lowered."""
    import dovetail as dt
    import dovetail.numpy as dnp

    step = step_of(dnp)

    def run(x: Any) -> Any:
        return dt.lax.scan(lambda c, _: (step(c), None), x, length=n, checkpoint=scheme)[0].sum()

    return dt.jit(dt.grad(run)).lower(dnp.zeros(size))


def planned_memory() -> dict[str, float]:
    """Megabytes of temporary memory for 100,000 steps of a carry of 1 MB."""
    import dovetail as dt

    def megabytes(scheme: Any) -> float:
        compiled = gradient(100_000, 2**18, scheme).compile()
        return compiled.memory_analysis().temp_size_in_bytes / 2**20

    schemes = (dt.Binomial(32), dt.Online(32), None)
    return {repr(s) if s else "plain": megabytes(s) for s in schemes}


def compile_times() -> dict[str, float]:
    """Seconds to trace, lower and compile, by steps and snapshots."""
    import dovetail as dt

    found = {}
    for n, s in ((100, 3), (100, 3), (100, 50), (1_000_000, 3), (1_000_000, 50)):
        found[f"n={n} s={s}"] = timed(lambda n=n, s=s: gradient(n, STATE, dt.Binomial(s)).compile())
    return found


LIMITED = """
import resource, sys
import numpy as np
import dovetail as dt

def gradient(n, scheme):
    step = lambda c, _: (c - 0.5 * c * c, None)
    f = dt.jit(dt.grad(lambda x: dt.lax.scan(step, x, length=n, checkpoint=scheme)[0].sum()))
    return f(np.full(1 << 18, 0.5, np.float32)).block_until_ready()

gradient(3, dt.Binomial(2))
used = int(next(l for l in open("/proc/self/status") if l.startswith("VmSize")).split()[1]) << 10
limit = used + (int(sys.argv[1]) << 20)
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
gradient(10_000, None if sys.argv[2] == "plain" else dt.Binomial(32))
"""


def limited_runs() -> dict[str, str]:
    """10,000 steps of 1 MB, in a process that may map 200 MB more than a tiny loop has."""
    found = {}
    for kind in ("Binomial(32)", "plain"):
        command = [sys.executable, "-c", LIMITED, "200", kind]
        done = subprocess.run(command, capture_output=True, text=True)
        last = (done.stderr.strip().splitlines() or [""])[-1]
        found[kind] = "runs" if done.returncode == 0 else f"fails: {last[:100]}"
    return found


def child(python: str, lib: str, rounds: int) -> dict[str, float]:
    """The multiples of one library, measured in a process of its own."""
    command = [python, __file__, "--child", lib, "--rounds", str(rounds)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def main() -> int:
    """Measure, print, and fail where a target is missed."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--peer", help="interpreter of an environment with JAX and Equinox")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", help="write all figures to this file")
    parser.add_argument("--child", choices=["dovetail", "equinox"], help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        functions = {"dovetail": dovetail_functions, "equinox": equinox_functions}[args.child]()
        print(json.dumps(multiples(functions, args.rounds)))
        return 0
    found: dict[str, Any] = {"multiples": child(sys.executable, "dovetail", args.rounds)}
    if args.peer:
        found["multiples"] |= child(args.peer, "equinox", args.rounds)
    found["temporary megabytes"] = planned_memory()
    found["seconds to compile"] = compile_times()
    found["under a limit"] = limited_runs()
    missed = report(found)
    if args.json:
        with open(args.json, "w") as f:
            json.dump(found, f, indent=1)
    return int(missed)


def report(found: dict[str, Any]) -> bool:
    """Print the figures; whether a target is missed."""
    missed = False
    for name, value in found["multiples"].items():
        target = TARGETS[int(name.split()[1])] if name.startswith("Binomial") else None
        verdict = "" if target is None else f"   at most {target:g}: {value <= target}"
        missed = missed or (target is not None and value > target)
        print(f"{name:24} {value:7.2f} forward passes{verdict}")
    for part in ("temporary megabytes", "seconds to compile", "under a limit"):
        for name, value in found[part].items():
            print(f"{name:24} {part}: {value if isinstance(value, str) else round(value, 2)}")
    return missed


if __name__ == "__main__":
    sys.exit(main())
