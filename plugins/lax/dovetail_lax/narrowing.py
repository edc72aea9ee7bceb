"""Warnings where a conversion that was asked for loses part of the numbers."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from dovetail_core import current_source, here

_seen: dict[Any, Any] = {}


def warn_truncated(wanted: Any, found: Any) -> None:
    """Say that ``found`` stands for the 64-bit dtype that was asked for."""
    _warn(
        f"dtype {wanted} was asked for{here()}, but without 64-bit "
        f"types it is {found}. Enable them (dovetail.enable_x64), or ask for {found}.",
        UserWarning,
    )


def warn_imaginary(source: Any, target: Any) -> None:
    """Say that a conversion between these dtypes drops imaginary parts, if it does.

    A truth value is one of the whole number.
    """
    if source.kind != "c" or target.kind in "cb":
        return
    _warn(
        f"a conversion from {source} to {target} discards the imaginary parts"
        f"{here()}. Take x.real or abs(x) first.",
        np.exceptions.ComplexWarning,
    )


def _warn(text: str, category: type[Warning]) -> None:
    # At the user's line, which is at no fixed distance from here.
    place = current_source()
    if place is None:
        warnings.warn(text, category, stacklevel=3)
    else:
        warnings.warn_explicit(text, category, place.filename, place.line, registry=_seen)
