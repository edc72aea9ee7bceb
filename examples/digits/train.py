"""Train a classifier of handwritten digits and draw what it learnt: ``make demo``.

    python examples/digits/train.py [--mesh data=4] [--processes 2]

divides each batch among four devices, of two processes: the losses are those of one device.
"""

from __future__ import annotations

import os
import sys
import time
from argparse import ArgumentParser, Namespace
from collections import Counter
from pathlib import Path
from typing import Any

import model
import numpy as np
from placing import OneDevice, OnMesh
from report import draw
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import dovetail
import dovetail.numpy as dnp
from dovetail_cli import main as command_line
from dovetail_core import registry

EPOCHS, BATCH = 40, 64
OUT = Path(__file__).parent / "out" / "digits.png"


def data() -> list[Any]:
    """Training and held-out images (n, 8, 8) in [0, 1], and their labels."""
    digits: Any = load_digits()
    images = (digits.images / 16).astype(np.float32)
    return train_test_split(
        images,
        digits.target.astype(np.int32),
        test_size=0.4,
        stratify=digits.target,
        random_state=0,
    )


def batches(rows: Any) -> list[Any]:
    """Whole batches of shuffled rows; what is left over waits for the next epoch."""
    return [rows[i : i + BATCH] for i in range(0, len(rows) - BATCH + 1, BATCH)]


def stages(console: Console, args: Any, place: OneDevice) -> Any:
    """Trace, lower and compile one step, stage by stage, and say how long each took."""
    table = Table("stage", "seconds", "result", title="From function to executable")
    start = time.perf_counter()
    traced = dovetail.jit(model.step, donate_argnums=(0, 1), **place.shardings).trace(*args)
    traced_at = time.perf_counter()
    lowered = traced.lower()
    lowered_at = time.perf_counter()
    compiled = lowered.compile()
    compiled_at = time.perf_counter()
    flops = compiled.cost_analysis().get("flops", 0.0)
    table.add_row("trace", f"{traced_at - start:.3f}", f"{count(traced.jaxpr)} equations")
    table.add_row("lower", f"{lowered_at - traced_at:.3f}", "StableHLO")
    table.add_row("compile", f"{compiled_at - lowered_at:.3f}", f"{flops / 1e6:.0f} Mflop a step")
    console.print(table)
    return traced, compiled


def programs(jaxpr: Any) -> list[Any]:
    """A program and all programs inside it."""
    found = [jaxpr]
    for eqn in jaxpr.eqns:
        if eqn.primitive.regions is not None:
            for region in eqn.primitive.regions(eqn.params).regions:
                found += programs(region.program)
    return found


def count(jaxpr: Any) -> int:
    """Equations in a program and all programs inside it."""
    return sum(len(p.eqns) for p in programs(jaxpr))


def who_supplied(console: Console, traced: Any) -> None:
    """Which plugin supplied the operations, and which the transformations and the backend."""
    used = Counter(e.primitive for p in programs(traced.jaxpr) for e in p.eqns)
    table = Table("plugin", "supplied", title="Who supplied what")
    for plugin in registry().plugins.values():
        top = plugin.target.partition(".")[0]
        own = Counter({p.name: n for p, n in used.items() if p.module.partition(".")[0] == top})
        most = ", ".join(f"{name} x{n}" for name, n in own.most_common(6))
        parts = [f"operations: {most}{' ...' if len(own) > 6 else ''}"] if own else []
        manifest = registry().active.get(plugin.name)
        if manifest is not None:
            named = {
                "columns": manifest.tables,
                "backends": manifest.backends,
                "modules": manifest.surfaces,
                "functions": [n for n in manifest.names if n in ("jit", "value_and_grad", "vmap")],
            }
            parts += [f"{what}: {', '.join(names)}" for what, names in named.items() if names]
        if parts:
            table.add_row(f"{plugin.name} {plugin.version}", "\n".join(parts))
    console.print(table)


def fit(
    console: Console, images: Any, labels: Any, place: OneDevice, epochs: int = EPOCHS
) -> tuple[Any, list[float]]:
    """Train on the images; returns the parameters and the mean loss of every epoch."""
    key = dovetail.random.key(0)
    params = model.init(key)
    zeros = dovetail.tree.map(dnp.zeros_like, params)
    state = (dnp.zeros(()), zeros, dovetail.tree.map(dnp.zeros_like, params))
    params, state, key = place.same((params, state, key))
    first, rate = [place.batch(x[:BATCH]) for x in (images, labels)], place.same(np.float32(0.001))
    traced, step = stages(console, (params, state, key, *first, rate), place)
    who_supplied(console, traced)
    losses: list[float] = []
    order = np.random.default_rng(0)
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console) as bar:
        task = bar.add_task("training", total=epochs)
        for i in range(epochs):
            rate = place.same(np.float32(0.001 * (1 + np.cos(np.pi * i / epochs))))
            found: list[Any] = []
            for rows in batches(order.permutation(len(images))):
                key, move = dovetail.random.split(key)
                batch = [place.batch(x[rows]) for x in (images, labels)]
                params, state, value = step(params, state, move, *batch, rate)
                found.append(value)
            losses.append(float(np.mean(found)))
            bar.update(task, advance=1, description=f"training, loss {losses[-1]:.3f}")
    return params, losses


def train(console: Console, place: OneDevice, epochs: int, out: Path) -> None:
    """Train, report and draw."""
    images, held_out, labels, held_out_labels = data()
    start = time.perf_counter()
    params, losses = fit(console, images, labels, place, epochs)
    seconds = time.perf_counter() - start
    params = dovetail.device_get(params)  # every process has the whole of them
    chances = np.asarray(dovetail.jit(model.chances)(params, held_out))
    accuracy = float(np.mean(chances.argmax(axis=-1) == held_out_labels))
    console.print(f"{len(images)} images, {epochs} epochs in {seconds:.1f} s, compiling included")
    console.print(f"[bold]{accuracy:.1%} of {len(held_out)} held-out images are read right[/bold]")
    console.print(f"the last loss is {losses[-1]:.6f}")
    if dovetail.process_index() == 0:
        draw(out, losses, held_out, held_out_labels, chances, place.rows(BATCH))
        shown = out.relative_to(Path.cwd()) if out.is_relative_to(Path.cwd()) else out
        console.print(f"Drawn to {shown}")
    if accuracy < 0.97 and epochs >= EPOCHS:
        raise SystemExit(f"expected at least 97 % of the held-out images, got {accuracy:.1%}")


def arguments() -> Namespace:
    """What the command line says."""
    parser = ArgumentParser(description="Train a classifier of handwritten digits.")
    parser.add_argument("--mesh", help="data=4: divide each batch among four devices")
    parser.add_argument("--processes", type=int, default=1, help="divide those among processes")
    parser.add_argument("--epochs", type=int, default=EPOCHS)
    parser.add_argument("--out", type=Path, default=OUT, help="the picture")
    found = parser.parse_args()
    if found.mesh is not None:
        axis, _, size = found.mesh.partition("=")
        if axis != "data" or not size.isdigit() or BATCH % max(int(size), 1) or int(size) < 1:
            parser.error(
                f"--mesh takes data=N, the number of devices, which divides the {BATCH} images of "
                f"a batch; got {found.mesh!r}"
            )
    if found.processes < 1:
        parser.error(f"--processes takes a number of at least 1, got {found.processes}")
    return found


def main(args: Namespace) -> int:
    """Train in this process, or start the processes that do."""
    joined = "DOVETAIL_COORDINATOR_ADDRESS" in os.environ
    count = int(args.mesh.partition("=")[2]) if args.mesh else args.processes
    if args.processes > 1 and not joined:
        if count % args.processes:
            raise SystemExit(f"{args.processes} processes do not divide {count} devices")
        more = [] if args.mesh else ["--mesh", f"data={count}"]
        each = ["--devices-per-process", str(count // args.processes)]
        launch = ["launch", "-n", str(args.processes), *each, __file__, *sys.argv[1:], *more]
        return command_line(launch)
    if joined:
        dovetail.distributed.initialize()
    elif args.mesh:
        dovetail.config.update("num_cpu_devices", count)
    place = OnMesh(args.mesh) if args.mesh else OneDevice()
    train(Console(quiet=dovetail.process_index() > 0), place, args.epochs, args.out)
    return 0


if __name__ == "__main__":
    sys.exit(main(arguments()))
