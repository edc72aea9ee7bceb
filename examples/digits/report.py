"""The picture of a training run: loss, confusion matrix, misread digits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np

mpl.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.gridspec import GridSpec

INK, BLUE, GREY = "#1b1f24", "#2a6fb0", "#8a929c"
SHOWN = 8


def draw(path: Path, losses: list[float], images: Any, labels: Any, guesses: Any) -> None:
    """Write the picture to ``path``."""
    plt.rcParams.update({"font.size": 10, "text.color": INK, "axes.edgecolor": GREY})
    figure = plt.figure(figsize=(11, 7), layout="constrained")
    grid = GridSpec(2, 1, figure, height_ratios=[3, 1.15])
    upper = grid[0].subgridspec(1, 2, wspace=0.08)
    accuracy = float(np.mean(guesses == labels))
    figure.suptitle(
        f"Handwritten digits: {accuracy:.1%} of {len(labels)} held-out images read right"
    )
    _loss(figure.add_subplot(upper[0]), losses)
    _confusion(figure.add_subplot(upper[1]), labels, guesses)
    _misread(figure, grid[1], images, labels, guesses)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def _loss(axes: Any, losses: list[float]) -> None:
    axes.plot(range(1, len(losses) + 1), losses, color=BLUE, linewidth=2)
    axes.set(title="Training loss", xlabel="epoch", ylabel="cross-entropy", yscale="log")
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", which="both", alpha=0.25)


def _confusion(axes: Any, labels: Any, guesses: Any) -> None:
    counts = np.zeros((10, 10), int)
    np.add.at(counts, (labels, guesses), 1)
    axes.imshow(np.sqrt(counts), cmap="Blues")
    for i, j in np.argwhere(counts):
        color = "white" if counts[i, j] > counts.max() / 3 else INK
        axes.text(j, i, str(counts[i, j]), ha="center", va="center", color=color, fontsize=8)
    axes.set(
        title="Confusion matrix", xlabel="read as", ylabel="is", xticks=range(10), yticks=range(10)
    )


def _misread(figure: Any, cell: Any, images: Any, labels: Any, guesses: Any) -> None:
    wrong = np.flatnonzero(labels != guesses)[:SHOWN]
    row = cell.subgridspec(1, SHOWN)
    for k in range(SHOWN):
        axes = figure.add_subplot(row[k])
        axes.axis("off")
        if k < len(wrong):
            i = wrong[k]
            axes.imshow(images[i], cmap="gray_r", vmin=0, vmax=1)
            axes.set_title(f"{labels[i]}, read as {guesses[i]}", fontsize=9)
        elif k == len(wrong):
            text = "none misread" if not len(wrong) else "no more misread"
            axes.text(0.5, 0.5, text, ha="center", va="center", color=GREY)
