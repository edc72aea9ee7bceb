"""What machines say of two formulas and a recurrence, and what is true: a picture.

``python examples/stochastic/digits.py PICTURE``
"""

from __future__ import annotations

import sys
from fractions import Fraction
from typing import Any

import numpy as np
from acme_stochastic import significant_digits

from dovetail import jit, lax, numpy as dnp, random, vmap

KEY = random.key(0)
COLOURS = "#d1495b", "#2a6fb0"


def naive(x: Any) -> Any:
    """(1 - cos x) / x², as it is written."""
    return (1 - dnp.cos(x)) / (x * x)


def stable(x: Any) -> Any:
    """The same by half the angle."""
    return 2 * (dnp.sin(x / 2) / x) ** 2


def muller(x: Any, y: Any) -> Any:
    """Muller's recurrence."""

    def step(carry: Any, _: Any) -> Any:
        x, y = carry
        z = 111 - 1130 / y + 3000 / (x * y)
        return (y, z), z

    return lax.scan(step, (x, y), None, length=16)[1]


def right_digits(found: Any, exact: Any) -> Any:
    """How many digits of what was found are those of what is exact."""
    found, exact = np.asarray(found, float), np.asarray(exact, float)
    return np.clip(-np.log10(np.maximum(np.abs(found / exact - 1), 1e-8)), 0, 7.4)


def exact_muller(x: Any, y: Any) -> list[float]:
    """The recurrence in fractions, for the data as they are."""
    x, y, found = Fraction(float(x)), Fraction(float(y)), []
    for _ in range(16):
        x, y = y, 111 - 1130 / y + 3000 / (x * y)
        found.append(float(y))
    return found


def draw(file: str) -> None:
    """Both cases: what is said as a line, what is true as dots."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 3.8), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True)
    x = np.logspace(-4.5, 0, 160).astype(np.float32)
    wide = x.astype(np.float64)
    exact = 2 * (np.sin(wide / 2) / wide) ** 2
    names = "(1 - cos(x)) / x²", "2 (sin(x/2) / x)²"
    for f, colour, name in zip((naive, stable), COLOURS, names):
        said = jit(vmap(significant_digits(f), in_axes=(0, None)))(x, KEY)
        left.plot(x, right_digits(vmap(f)(x), exact), ".", ms=4, color=colour, alpha=0.45)
        left.plot(x, said, color=colour, lw=1.8, label=name)
    left.set(xscale="log", xlabel="x", ylabel="decimal digits")
    left.legend(frameon=False, loc="center right", bbox_to_anchor=(1, 0.42))
    left.set_title("lines: said to be right; dots: are right (float32)", size=10, loc="left")
    start = np.float32(5.5), np.float32(61) / np.float32(11)
    said = jit(significant_digits(muller))(*start, KEY)
    steps = np.arange(2, 18)
    right.plot(steps, right_digits(muller(*start), exact_muller(*start)), "o", ms=4, color="0.35")
    right.plot(steps, said, color=COLOURS[0], lw=1.8)
    right.set(xlabel="n", xticks=steps[::2])
    right.set_title("111 - 1130 / x[n-1] + 3000 / (x[n-1] x[n-2])", size=10, loc="left")
    for axes in (left, right):
        axes.grid(color="0.93")
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(file, dpi=110)


if __name__ == "__main__":
    draw(sys.argv[1])
