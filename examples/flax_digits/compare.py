"""Run one program with JAX and with Dovetail, and draw both results: a part of ``make demo``."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from rich.console import Console
from rich.table import Table

mpl.use("Agg")
import matplotlib.pyplot as plt

HERE = Path(__file__).parent
OUT = HERE / "out"
INK, BLUE, GREY, RED = "#1b1f24", "#2a6fb0", "#8a929c", "#b3261e"
WAYS = {"JAX": [], "Dovetail": ["-m", "dovetail.jax"]}
PARTS = ("imports", "first step", "trained")


def results(way: str) -> Any:
    """What the program leaves, run in one way."""
    OUT.mkdir(exist_ok=True)
    path = OUT / f"{way.lower()}.npz"
    subprocess.run([sys.executable, *WAYS[way], str(HERE / "train.py"), str(path)], check=True)
    return np.load(path)


def report(console: Console, found: dict[str, Any]) -> None:
    """A table of times and accuracies."""
    table = Table("train.py with", *(f"{p}, s" for p in PARTS), "held-out images read right")
    for way, r in found.items():
        right = np.mean(r["chances"].argmax(-1) == r["labels"])
        table.add_row(way, *(f"{s:.2f}" for s in r["seconds"]), f"{right:.1%}")
    console.print(table)


def draw(found: dict[str, Any], path: Path) -> None:
    """Times until each part was done, losses, and the hardest digits of both."""
    plt.rcParams.update({"font.size": 10, "text.color": INK, "axes.edgecolor": GREY})
    figure = plt.figure(figsize=(11, 6.4), layout="constrained")
    figure.suptitle("One program written with flax and optax, unmodified")
    parts: Any = figure.subfigures(2, 1, height_ratios=[1.7, 1])
    upper, lower = parts
    times, losses = upper.subplots(1, 2)
    for (way, r), color, place in zip(found.items(), (GREY, BLUE), (-0.2, 0.2), strict=True):
        at = np.arange(len(PARTS)) + place
        bars = times.barh(at, r["seconds"], 0.38, color=color, label=way)
        times.bar_label(bars, fmt=" %.2f s", fontsize=9)
        losses.plot(
            1 + np.arange(len(r["losses"])), r["losses"], color=color, label=way,
            linewidth=5 if way == "JAX" else 1.8,
        )  # fmt: skip
    times.set(title="Seconds since the start until", yticks=range(3), yticklabels=PARTS)
    times.invert_yaxis()
    times.margins(x=0.15)
    times.legend(frameon=False, loc="lower right")
    losses.set(title="Training loss", xlabel="epoch", yscale="log", xticks=range(0, 21, 5))
    losses.legend(frameon=False)
    for axes in (times, losses):
        axes.spines[["top", "right"]].set_visible(False)
    _hardest(lower, found)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def _hardest(figure: Any, found: dict[str, Any]) -> None:
    """The digits that JAX's run was least certain of, and how certain each run was."""
    first = found["JAX"]
    certainty = first["chances"][np.arange(len(first["labels"])), first["labels"]]
    figure.suptitle("The hardest digits: what each run reads, and how sure it is", fontsize=10)
    for i, axes in zip(np.argsort(certainty), figure.subplots(1, 8), strict=False):
        axes.axis("off")
        axes.imshow(first["images"][i], cmap="gray_r", vmin=0, vmax=1)
        reads = []
        for way, r in found.items():
            guess = r["chances"][i].argmax()
            reads.append(f"{way}: {guess} ({r['chances'][i].max():.0%})")
        axes.set_title(f"{first['labels'][i]}\n" + "\n".join(reads), fontsize=8)


def main() -> None:
    """Both runs, the table and the picture."""
    console = Console()
    found = {way: results(way) for way in WAYS}
    report(console, found)
    path = OUT / "flax_digits.png"
    draw(found, path)
    shown = path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
    console.print(f"Drawn to {shown}")
    if any(np.mean(r["chances"].argmax(-1) == r["labels"]) < 0.95 for r in found.values()):
        raise SystemExit("expected at least 95 % of the held-out images to be read right")


if __name__ == "__main__":
    main()
