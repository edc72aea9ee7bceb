"""Warnings where a conversion that was asked for loses part of the numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail_core import here
from dovetail_core.base.source import warn_here


def warn_truncated(wanted: Any, found: Any) -> None:
    """Say that ``found`` stands for the 64-bit dtype that was asked for."""
    warn_here(
        f"dtype {wanted} was asked for{here()}, but without 64-bit "
        f"types it is {found}. Enable them (dovetail.enable_x64), or ask for {found}.",
        UserWarning,
    )


class ImaginaryPartLost(np.exceptions.ComplexWarning, DeprecationWarning):
    """A conversion of complex numbers that will be refused."""


def warn_imaginary(
    source: Any, target: Any, category: type[Warning] = np.exceptions.ComplexWarning
) -> None:
    """Say that a conversion between these dtypes drops imaginary parts, if it does.

    A truth value is one of the whole number.
    """
    if source.kind != "c" or target.kind in "cb":
        return
    warn_here(
        f"a conversion from {source} to {target} discards the imaginary parts"
        f"{here()}. Take x.real or abs(x) first.",
        category,
    )
