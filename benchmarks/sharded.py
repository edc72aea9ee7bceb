"""Programs on eight CPU devices of one process, on Dovetail and on JAX in turn.

    python benchmarks/sharded.py [--peer PYTHON] [--rounds 3] [--only call put] [--write]

Calls of compiled functions with sharded arguments, placement, eager operations, tracing and
lowering of a transformer of 12 blocks (with constraints on Auto axes, under ``shard_map``, on
Explicit axes), its steady step, and lowering for meshes without devices of 8 and of 4,096. Each
library runs in a process of its own; a time is the least of the rounds, a ratio the median of the
rounds' ratios. Exit status 1: a target is missed. With ``--write`` the table goes into RESULTS.md,
with ``--json FILE`` all figures into a file.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from workloads import best, gpt_loss, gpt_params

TARGETS = (
    ("call.*", 1.0), ("put.*", 0.6), ("eager.*", 0.9), ("trace.*", 0.3), ("lower.*", 0.5),
    ("step.*", 1.05),
)  # fmt: skip
GROWTH = 1.3
"""The most that lowering for 4,096 devices takes, as a multiple of that for 8."""
GROUPS = ("call", "put", "eager", "model", "meshes")
Figures = dict[str, float | str]
Timed = Iterator[tuple[str, Callable[[], float]]]


class Library:
    """One of the two, with a mesh of all devices."""

    def __init__(self, name: str) -> None:
        self.top: Any = importlib.import_module(name)
        self.np: Any = importlib.import_module(f"{name}.numpy")
        self.sharding: Any = importlib.import_module(f"{name}.sharding")
        self.spec: Any = self.sharding.PartitionSpec
        self.mesh: Any = self.sharding.Mesh(np.array(self.top.devices()).reshape(8), ("x",))

    def place(self, *axes: Any, mesh: Any = None) -> Any:
        """The sharding by a spec."""
        return self.sharding.NamedSharding(mesh or self.mesh, self.spec(*axes))


def calls(lib: Library) -> Timed:
    """Calls of compiled functions."""
    x = lib.top.device_put(np.arange(64, dtype=np.float32), lib.place("x"))
    one = lib.top.jit(lambda a: a + 1.0)
    yield "call.jit_1_arg", lambda: best(lambda: one(x), 7, 500)
    tree = {f"k{i}": x for i in range(100)}
    many = lib.top.jit(lambda t: {k: v + 1.0 for k, v in t.items()})
    yield "call.jit_100_leaves", lambda: best(lambda: many(tree), 5, 20)


def placement(lib: Library) -> Timed:
    """Arrays on all devices."""
    top, place = lib.top, lib.place("x")
    for side in (8, 1024):
        data = np.ones((side, side), np.float32)
        yield (
            f"put.numpy_{side}",
            lambda data=data: best(lambda: top.device_put(data, place), 7, 100),
        )
        get = data.__getitem__
        make = partial(top.make_array_from_callback, data.shape, place, get)
        yield f"put.callback_{side}", lambda make=make: best(make, 7, 100)
    # JAX returns before it has read the 4 MB, and reads what is written there meanwhile.
    ready = {
        "numpy": lambda: top.device_put(data, place).block_until_ready(),
        "callback": lambda: make().block_until_ready(),
        "may_alias": lambda: top.device_put(data, place, may_alias=True).block_until_ready(),
    }
    for name, f in ready.items():
        yield f"placed.{name}_1024", lambda f=f: best(f, 7, 100)
    whole = top.device_put(np.ones((8, 8), np.float32), lib.place())
    yield "put.replicated_to_shards", lambda: best(lambda: top.device_put(whole, place), 7, 100)


def eager(lib: Library) -> Timed:
    """Operations at once on sharded arrays."""
    x = lib.top.device_put(np.ones((16, 16), np.float32), lib.place("x"))
    cases: dict[str, Callable[[], Any]] = {
        "add": lambda: x + x, "mul_scalar": lambda: x * 2.0, "sin": lambda: lib.np.sin(x),
        "matmul": lambda: x @ x, "sum": lambda: lib.np.sum(x), "index": lambda: x[1],
        "transpose": lambda: x.T, "where": lambda: lib.np.where(x > 0, x, -x),
    }  # fmt: skip
    for name, f in cases.items():
        yield f"eager.{name}", lambda f=f: best(lambda: f().block_until_ready(), 7, 50)


class _ByProducts:
    """A table, or the functions of NumPy, without indexing by arrays: of that JAX does not know how
    results are divided along Explicit axes."""

    def __init__(self, lib: Library, wrapped: Any) -> None:
        self.lib, self.wrapped = lib, wrapped

    def __getattr__(self, name: str) -> Any:
        return getattr(self.wrapped, name)

    def __getitem__(self, at: Any) -> Any:
        return self.lib.top.nn.one_hot(at, self.wrapped.shape[0]) @ self.wrapped

    def take_along_axis(self, x: Any, at: Any, axis: int) -> Any:
        chosen = self.lib.top.nn.one_hot(at[..., 0], x.shape[axis])
        return self.lib.np.sum(x * chosen, axis=axis, keepdims=True)


def model(lib: Library) -> Timed:
    """A transformer of which each device has a part of the batch."""
    top = lib.top
    params = gpt_params(lib.np, 12)
    tokens = np.random.RandomState(0).randint(0, 128, (8, 32)).astype(np.int32)
    loss = gpt_loss(top, lib.np)

    def step(p: Any, t: Any) -> Any:
        return top.value_and_grad(loss)(p, t)

    everywhere, divided = lib.place(), lib.place("x")

    def constrained(p: Any, t: Any) -> Any:
        return step(p, top.lax.with_sharding_constraint(t, divided))

    def mapped(p: Any, t: Any) -> Any:
        def f(p: Any, t: Any) -> Any:
            return top.tree.map(lambda g: top.lax.pmean(g, "x"), step(p, t))

        spec = lib.spec
        return top.shard_map(f, mesh=lib.mesh, in_specs=(spec(), spec("x")), out_specs=spec())(p, t)

    by_products = gpt_loss(top, _ByProducts(lib, lib.np))

    def typed(p: Any, t: Any) -> Any:
        def looked_up(p: Any, t: Any) -> Any:
            return by_products({**p, "emb": _ByProducts(lib, p["emb"])}, t)

        return top.value_and_grad(looked_up)(p, t)

    mesh = lib.sharding.Mesh(lib.mesh.devices, ("x",), (lib.sharding.AxisType.Explicit,))
    for name, f, on in (
        ("auto", constrained, None), ("shard_map", mapped, None), ("explicit", typed, mesh),
    ):  # fmt: skip
        where = [lib.place(mesh=on), lib.place("x", mesh=on)] if on else [everywhere, divided]
        args = [top.device_put(a, s) for a, s in zip((params, tokens), where)]
        yield from _stages(top, f"{name}_gpt12", f, args)


def _stages(top: Any, name: str, f: Any, args: Any) -> Timed:
    def fresh() -> Any:
        return top.jit(lambda *a: f(*a))

    def lower() -> float:
        return min(best(fresh().trace(*args).lower, 1, warmup=0) for _ in range(4))

    compiled = fresh()
    yield f"trace.{name}", lambda: best(lambda: fresh().trace(*args), 5)
    yield f"lower.{name}", lower
    yield f"step.{name}", lambda: best(lambda: top.block_until_ready(compiled(*args)), 7)


def meshes(lib: Library) -> Timed:
    """Lowering for devices that are not there."""
    loss, params = gpt_loss(lib.top, lib.np), gpt_params(lib.np, 4)
    shape = lib.top.ShapeDtypeStruct
    for n in (8, 4096):
        mesh = lib.sharding.AbstractMesh((n // 4, 4), ("x", "y"))
        whole, rows = lib.place(mesh=mesh), lib.place("x", mesh=mesh)
        make = partial(shape, sharding=whole)
        types = lib.top.tree.map(lambda a, make=make: make(a.shape, a.dtype), params)
        tokens = shape((1024, 32), np.dtype(np.int32), sharding=rows)

        def once(types: Any = types, tokens: Any = tokens) -> float:
            jitted = lib.top.jit(lambda *a: lib.top.value_and_grad(loss)(*a))
            traced = jitted.trace(types, tokens)
            return best(lambda: traced.lower(lowering_platforms=("cpu",)), 1, warmup=0)

        yield f"mesh_{n}.lower_gpt4", lambda f=once: min(f() for _ in range(5))


def run(name: str, only: list[str]) -> Figures:
    """The figures of one library, in this process."""
    lib, found = Library(name), Figures()
    groups: dict[str, Any] = dict(zip(GROUPS, (calls, placement, eager, model, meshes)))
    for group in only:
        for workload, timed in groups[group](lib):
            try:
                found[workload] = timed()
            except Exception as e:  # a gap, reported as such
                found[workload] = f"{type(e).__name__}: {str(e)[:160]}"
    return found


def child(python: str, name: str, only: list[str]) -> Figures:
    """The figures of one library, in a process of its own."""
    # Both have as many threads as Dovetail takes unasked. JAX takes one for each device (or core),
    # which is faster where there are few cores, until 32 programs with collectives are on their
    # way: then it waits for ever.
    env = os.environ | {
        "XLA_FLAGS": "--xla_force_host_platform_device_count=8", "TF_CPP_MIN_LOG_LEVEL": "3",
        "NPROC": "16",
    }  # fmt: skip
    command = [python, __file__, "--child", name, "--only", *only]
    done = subprocess.run(command, capture_output=True, text=True, env=env)
    if done.returncode:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def report(ours: list[Any], theirs: list[Any]) -> tuple[list[str], bool]:
    """The table, and whether a target is missed."""
    lines = ["| workload | Dovetail | JAX | ratio | target |", "|---|---|---|---|---|"]
    missed = False
    for name in ours[0]:
        mine, other = [r[name] for r in ours], [r.get(name) for r in theirs]
        errors = [x for x in (*mine, *other) if isinstance(x, str)]
        if errors:
            lines.append(f"| {name} | {errors[0]} | | | |")
            continue
        cells = [f"{min(mine) * 1e6:.1f} us", "", "", ""]
        target = next((t for p, t in TARGETS if fnmatchcase(name, p)), None)
        if other and None not in other:
            ratio = statistics.median(a / b for a, b in zip(mine, other))
            cells[1:3] = f"{min(other) * 1e6:.1f} us", f"{ratio:.2f}"
            if target is not None:
                cells[3] = f"{target:g}"
                missed |= ratio > target
        lines.append(f"| {name} | {' | '.join(cells)} |")
    for side, rounds in (("Dovetail", ours), ("JAX", theirs)):
        sizes = [[r.get(f"mesh_{n}.lower_gpt4") for r in rounds] for n in (8, 4096)]
        if all(isinstance(x, float) for s in sizes for x in s) and rounds:
            grown = statistics.median(b / a for a, b in zip(*sizes))
            lines += ["", f"{side}: lowering for 4,096 devices takes {grown:.2f} x that for 8."]
            missed |= side == "Dovetail" and grown > GROWTH
    return lines, missed


def main() -> int:
    """Measure, print, and fail where a target is missed."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--peer", help="interpreter of an environment with JAX")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", nargs="*", default=list(GROUPS), choices=GROUPS)
    parser.add_argument("--json", help="write all figures to this file")
    parser.add_argument("--write", action="store_true", help="renew the section in RESULTS.md")
    parser.add_argument("--child", choices=["dovetail", "jax"], help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        print(json.dumps(run(args.child, args.only)))
        return 0
    ours, theirs = list[Figures](), list[Figures]()
    for _ in range(args.rounds):
        ours.append(child(sys.executable, "dovetail", args.only))
        if args.peer:
            theirs.append(child(args.peer, "jax", args.only))
    lines, missed = report(ours, theirs)
    print("\n".join(lines))
    if args.json:
        Path(args.json).write_text(json.dumps({"dovetail": ours, "jax": theirs}, indent=1))
    if args.write:
        import sections

        sections.write("sharded.py", "## Eight devices", lines)
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
