"""Positions and pads of windows that slide over dilated axes, for pooling and convolution."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_base import arguments
from dovetail_base.source import called
from dovetail_core import here

from ..errors import ShapeError


def dilated(size: int, dilation: int) -> int:
    """The length of an axis with ``dilation - 1`` holes between its elements."""
    return 0 if size == 0 else (size - 1) * dilation + 1


def positions(padded: int, window: int, stride: int) -> int:
    """The number of positions of a window on an axis."""
    return 0 if padded < window else (padded - window) // stride + 1


def window_counts(
    shape: Sequence[int],
    window: Sequence[int],
    strides: Sequence[int],
    padding: Sequence[tuple[int, int]],
    base_dilation: Sequence[int],
    window_dilation: Sequence[int],
) -> tuple[int, ...]:
    """The number of positions of a window, per axis."""
    padding = arguments.items("padding", padding, arguments.integers)
    if any(len(p) != 2 for p in padding):
        raise TypeError(f"padding must be pairs (low, high), got {padding}{called()}")
    given = {
        "shape": shape,
        "window": window,
        "strides": strides,
        "base_dilation": base_dilation,
        "window_dilation": window_dilation,
    }
    for name, values in given.items():
        if min(arguments.integers(name, values), default=1) < (name == "strides"):
            raise TypeError(f"{name} got {tuple(values)}{called()}: they must be positive")
    return tuple(
        positions(dilated(d, bd) + lo + hi, dilated(w, wd), s)
        for d, w, s, (lo, hi), bd, wd in zip(
            shape, window, strides, padding, base_dilation, window_dilation
        )
    )


def same_padding(
    shape: Sequence[int], window: Sequence[int], strides: Sequence[int], lower: bool = False
) -> list[tuple[int, int]]:
    """Pads for which a window has ``ceil(size / stride)`` positions; an odd one goes to the end.

    ``lower``: the odd one goes to the start.
    """
    check_positive("padtype_to_pads", window_strides=arguments.integers("strides", strides))
    if not len(shape) == len(window) == len(strides):
        raise ValueError(
            f"padtype_to_pads: a shape of {len(shape)} dimensions, a window of {len(window)} and "
            f"{len(strides)} strides{called()}. Give one of each for each dimension."
        )
    pads: list[tuple[int, int]] = []
    for d, w, s in zip(shape, window, strides):
        total = max((-(-d // s) - 1) * s + w - d, 0)
        less, more = total // 2, total - total // 2
        pads.append((more, less) if lower else (less, more))
    return pads


def pads_of(
    padding: Any, shape: Sequence[int], window: Sequence[int], strides: Sequence[int]
) -> list[tuple[int, int]]:
    """The pads for the name of a padding.

    Raises:
        RuntimeError: the name is none of those known.
        TypeError: ``padding`` is not a string.
    """
    if not isinstance(padding, str):
        raise TypeError(
            f"got padding {padding!r}{here()}: it must be a string or a sequence of (low, high) "
            "pairs."
        )
    name = padding.upper()
    if name == "VALID":
        return [(0, 0)] * len(window)
    if name in ("SAME", "SAME_LOWER"):
        return same_padding(shape, window, strides, name == "SAME_LOWER")
    raise RuntimeError(
        f"got padding {padding!r}{here()}: it must be 'VALID', 'SAME' or 'SAME_LOWER', or a "
        "sequence of (low, high) pairs."
    )


def check_lengths(name: str, n: int, **values: Sequence[Any]) -> None:
    """Raise unless each parameter has one value per axis.

    Raises:
        TypeError: one has not.
    """
    for key, result in values.items():
        if len(result) != n:
            raise ShapeError(
                f"lax.{name} got {key} {tuple(result)}{here()}: it needs {n} values, one per "
                f"{'spatial ' if name.startswith('conv') else ''}axis."
            )


def check_positive(name: str, **values: Sequence[int]) -> None:
    """Raise unless all values of each parameter are at least one.

    Raises:
        TypeError: one is not.
    """
    for key, result in values.items():
        if any(v < 1 for v in result):
            raise TypeError(f"lax.{name} got {key} {tuple(result)}{here()}: they must be positive.")
