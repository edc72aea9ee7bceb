"""The picture of a training run: loss, confusion matrix, the hardest digits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np

mpl.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.gridspec import GridSpec
from matplotlib.ticker import MaxNLocator

INK, BLUE, GREY, RED = "#1b1f24", "#2a6fb0", "#8a929c", "#b3261e"
SHOWN = 8


def draw(
    path: Path,
    losses: list[float],
    images: Any,
    labels: Any,
    chances: Any,
    rows: list[tuple[str, int, int]] | None = None,
) -> None:
    """Write the picture to ``path``.

    Args:
        chances: class probabilities (n, 10).
        rows: for each device its name and the rows of a batch that it has, from and to.
    """
    guesses = chances.argmax(axis=-1)
    plt.rcParams.update({"font.size": 10, "text.color": INK, "axes.edgecolor": GREY})
    figure = plt.figure(figsize=(11, 8 if rows else 7), layout="constrained")
    grid = GridSpec(3 if rows else 2, 1, figure, height_ratios=[3, 1.15, 0.5][: 3 if rows else 2])
    upper = grid[0].subgridspec(1, 2, wspace=0.08)
    accuracy = float(np.mean(guesses == labels))
    figure.suptitle(
        f"Handwritten digits: {accuracy:.1%} of {len(labels)} held-out images read right"
    )
    _loss(figure.add_subplot(upper[0]), losses)
    _confusion(figure.add_subplot(upper[1]), labels, guesses)
    _hardest(figure, grid[1], images, labels, chances)
    if rows:
        _placement(figure.add_subplot(grid[2]), rows)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def _loss(axes: Any, losses: list[float]) -> None:
    axes.plot(range(1, len(losses) + 1), losses, color=BLUE, linewidth=2)
    axes.set(title="Training loss", xlabel="epoch", ylabel="cross-entropy", yscale="log")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
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


def _placement(axes: Any, rows: list[tuple[str, int, int]]) -> None:
    """Which rows of a batch are on which device."""
    shades = plt.get_cmap("tab10")
    for i, (name, start, stop) in enumerate(rows):
        axes.barh(0, stop - start, left=start, height=0.8, color=shades(i % 10), alpha=0.65)
        axes.text((start + stop) / 2, 0, name, ha="center", va="center", fontsize=9)
    axes.set(title="Where the rows of a batch are", xlim=(0, rows[-1][2]), yticks=[])
    axes.set_xticks([start for _, start, _ in rows] + [rows[-1][2]])
    axes.spines[["top", "right", "left"]].set_visible(False)


def _hardest(figure: Any, rule: Any, images: Any, labels: Any, chances: Any) -> None:
    """The misread digits, and after them those that were read right with the least certainty."""
    guesses = chances.argmax(axis=-1)
    certainty = chances[np.arange(len(labels)), labels]
    hardest = np.lexsort((certainty, guesses == labels))[:SHOWN]
    row = rule.subgridspec(1, SHOWN)
    for k, i in enumerate(hardest):
        axes = figure.add_subplot(row[k])
        axes.axis("off")
        axes.imshow(images[i], cmap="gray_r", vmin=0, vmax=1)
        right = guesses[i] == labels[i]
        title = (
            f"{labels[i]}: {certainty[i]:.0%} sure"
            if right
            else f"{labels[i]}, read as {guesses[i]}"
        )
        axes.set_title(title, fontsize=9, color=INK if right else RED)
