"""Where derivatives are looked at: the whole range of a type, its ends, and singular points."""

from __future__ import annotations

from typing import Any

import numpy as np


def points(
    dtype: Any, n: int, domain: tuple[float, float], near: tuple[float, ...] = (0.0,)
) -> Any:
    """``n`` numbers of ``dtype`` inside ``domain``, in order.

    A third has magnitudes between the least and the greatest normal number, a third between
    1/1000 and 1000, a third distances from the points ``near`` that are between a rounding and 1.
    Always there are the ends of the domain and numbers next to the points.
    """
    info, rng = np.finfo(dtype), np.random.default_rng(0)
    least, most = np.log2(float(info.tiny)), np.log2(float(info.max)) - 1e-3
    result: list[float] = [*domain, float(info.tiny), float(info.max), -float(info.max)]
    for point in near:
        up, down = (
            np.nextafter(dtype(point), dtype(np.inf)),
            np.nextafter(dtype(point), dtype(-np.inf)),
        )
        result += [point, *([up, down] if point else [])]
    low, high = domain
    while len(kept := _inside(result, dtype, low, high)) < n:
        sign = rng.choice([-1.0, 1.0])
        result += [sign * 2 ** rng.uniform(least, most), sign * 2 ** rng.uniform(-10, 10)]
        point = near[rng.integers(len(near))]
        distance = 2 ** rng.uniform(-info.nmant, 0) * (abs(point) or 1.0)
        result.append(point + rng.choice([-1.0, 1.0]) * distance)
    return kept[np.linspace(0, len(kept) - 1, n).round().astype(int)]


def _inside(result: list[float], dtype: Any, low: float, high: float) -> Any:
    """Those numbers of the type that are in the domain and not subnormal, sorted."""
    x = np.unique(np.array(result).astype(dtype))
    normal = (np.abs(x) >= np.finfo(dtype).tiny) | (x == 0)
    return x[normal & (x >= low) & (x <= high) & np.isfinite(x)]
