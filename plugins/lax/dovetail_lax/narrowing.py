"""Warnings where a conversion that was asked for loses part of the numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail_base.source import warn_here
from dovetail_core import Option, config, here


def _check_explicit(value: Any) -> Any:
    told = getattr(value, "name", value)  # of an enumeration
    known = {"warn": "warn", "error": "error", "allow": "allow"}
    result = known.get(told.lower()) if isinstance(told, str) else None
    if result is None:
        raise ValueError(f"explicit_x64_dtypes is 'warn', 'error' or 'allow', not {value!r}")
    return result


explicit_x64_dtypes = config.add(
    Option(
        "explicit_x64_dtypes",
        "warn",
        "What happens where a 64-bit dtype is asked for by its name while 64-bit types are not "
        "enabled: 'warn' (it is one of 32 bits), 'error', or 'allow' (it is as asked for).",
        check=_check_explicit,
        traced=True,
    )
)


def explicit(wanted: Any, narrow: Any) -> Any:
    """What stands for a 64-bit dtype that was asked for; ``narrow`` by default, with a warning.

    Raises:
        ValueError: the option ``explicit_x64_dtypes`` forbids it.
    """
    choice = explicit_x64_dtypes.value
    if choice == "allow":
        return wanted
    if choice == "error":
        raise ValueError(
            f"dtype {wanted} was asked for{here()}, but 64-bit types are not enabled (option "
            f"explicit_x64_dtypes). Enable them (dovetail.enable_x64), or ask for {narrow}."
        )
    warn_truncated(wanted, narrow)
    return narrow


def warn_truncated(wanted: Any, result: Any) -> None:
    """Say that ``found`` stands for the 64-bit dtype that was asked for."""
    warn_here(
        f"dtype {wanted} was asked for{here()}, but without 64-bit "
        f"types it is {result}. Enable them (dovetail.enable_x64), or ask for {result}.",
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
