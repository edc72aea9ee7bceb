"""Colourings: columns that have no line in common can be told apart in one sum."""

from __future__ import annotations

from typing import Any

import numpy as np


def color(pattern: Any) -> np.ndarray[Any, Any]:
    """A colour for each column of a boolean matrix, so that columns of one colour share no line.

    Greedily: columns that collide with many others come first, and each gets the first colour that
    none of these has. (In the graph of lines and columns two of a colour are at a distance of more
    than two.)

    Returns: integers from zero, one per column; there are ``max + 1`` colours.
    """
    entries = np.asarray(pattern, np.float32)
    collide = entries.T @ entries > 0
    found = np.full(len(collide), -1)
    for column in np.argsort(-collide.sum(0), kind="stable"):
        taken = np.unique(found[collide[column]])
        free = np.setdiff1d(np.arange(len(taken) + 1), taken)
        found[column] = free[0]
    return found
