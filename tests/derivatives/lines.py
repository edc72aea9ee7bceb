"""Derivatives of functions of matrices of all sizes, along a line through each.

A function ``f`` is looked at as ``φ(t)``, the sum of the elements of ``f(s A + t E)`` with weights,
at ``t = 0``, for fixed matrices ``A`` and ``E`` and scales ``s`` over the range of a type. ``A`` is
well-conditioned: what is lost is lost by scale.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import mpmath as mp
import numpy as np

from .modes import derivatives, function

FIRST = np.array([[1.0, -0.5], [0.25, 2], [-1, 0.75], [1.5, 0.5], [0.5, -1.25]])
SECOND = np.array(
    [[1, -0.5, 0.25, 0.75], [0.5, 2, -1, 0.25], [-0.75, 0.5, 1.5, 1], [0.25, 1, -0.5, -2]]
)
SQUARE = np.array(
    [[4, 1, -0.5, 0.25], [0.5, -3, 1, 0.75], [-1, 0.25, 2, 1.5], [0.25, -0.5, 0.75, 5.5]]
)
SYMMETRIC = np.array(
    [[4, 1, -0.5, 0.25], [1, 3, 0.75, -0.5], [-0.5, 0.75, 5.5, 1], [0.25, -0.5, 1, 7]]
)
TALL = np.array([[4, 1, -0.5], [0.5, -3, 1], [-1, 0.25, 2], [0.25, -0.5, 0.75], [1, 0.75, -1.5]])
_DIRECTION = np.array(
    [[0.5, -0.25, 1, 0.75], [0.25, 1, -0.5, 0.5], [-0.75, 0.5, 0.25, -1], [1, 0.25, -0.5, 0.75],
     [0.25, 0.5, 1, -0.25]]
)  # fmt: skip


def exact_matrix(x: Any, rows: int = 4) -> Any:
    """The first rows of an array in mpmath."""
    return mp.matrix(x[:rows].tolist())


def direction(base: Any) -> Any:
    """``E`` of the shape of ``A``, symmetric if that is."""
    e = _DIRECTION[: base.shape[0], : base.shape[1]]
    return (e + e.T) / 2 if base is SYMMETRIC else e


def _weights(n: int) -> Any:
    """Numbers between 1/4 and 2, in no order."""
    return (1 + 5 * np.arange(n) % 8) / 4


class Sized(NamedTuple):
    """A sum, and that of the absolute values of its terms, which roundings are relative to."""

    value: Any
    size: Any

    @staticmethod
    def sum(terms: list[Any]) -> Sized:
        """That of the terms."""
        return Sized(mp.fsum(terms), mp.fsum(terms, absolute=True))


@dataclass(frozen=True, eq=False)
class MatrixCase:
    """What a function of matrices is exactly, and at which matrices it is looked at.

    Attributes:
        exact: the function of an mpmath matrix.
        power: ``p`` where ``f(s A) = s**p f(A)``, but for a constant; None for functions without,
            which are looked at where ``s`` is at most 1.
        base: ``A``.
    """

    exact: Callable[[Any], Any]
    power: float | None
    base: Any = None
    most: ClassVar[float] = 64.0
    """Roundings that a derivative may be off by: 16 times the condition number, which is 2 to 4."""

    def __post_init__(self) -> None:
        if self.base is None:
            object.__setattr__(self, "base", SQUARE)

    def places(self, dtype: Any, n: int) -> Any:
        """The scales: ``n`` powers of two, from the least to the greatest that leave 26 bits."""
        info = np.finfo(dtype)
        most = 0 if self.power is None else info.maxexp - 26
        powers = np.linspace(info.minexp + 26, most, n).round().astype(int)
        return np.ldexp(dtype(1), np.unique(powers))

    def exact_at(self, scales: Any) -> list[tuple[Sized, Sized]]:
        """The first and second derivative at each scale."""
        with mp.workdps(80):
            if self.power is None:
                return [self._slopes(mp.mpf(float(s))) for s in scales]
            slopes, result = self._slopes(mp.mpf(1)), []
            for s in scales:
                powers = [mp.mpf(float(s)) ** (mp.mpf(self.power) - k) for k in (1, 2)]
                result.append(tuple(Sized(*(v * p for v in x)) for x, p in zip(slopes, powers)))
            return result

    def _slopes(self, scale: Any) -> tuple[Sized, Sized]:
        a, e = exact_matrix(self.base, 5) * scale, exact_matrix(direction(self.base), 5)
        step = mp.mpf(10) ** -20

        def weighted(t: Any) -> Any:
            out = self.exact(a + e * t)
            result = [out[i, j] for i in range(out.rows) for j in range(out.cols)]
            return [mp.mpf(w) * mp.re(v) for w, v in zip(_weights(len(result)), result)]

        below, here, above = (weighted(k * step) for k in (-1, 0, 1))
        first = [(v - u) / (2 * step) for u, v in zip(below, above)]
        second = [(v - 2 * w + u) / step**2 for u, w, v in zip(below, here, above)]
        return Sized.sum(first), Sized.sum(second)

    def ways(self, root: Any, expression: str) -> list[Callable[[Any], Any]]:
        """Both derivatives of each mode as functions of the scales."""
        base, e = self.base, direction(self.base)

        def at(s: Any, way: int) -> Any:
            a, step, b, c = (v.astype(s.dtype) for v in (base, e, FIRST[: len(base)], SECOND))
            f = function(root, expression, b=b, c=c)

            def along(t: Any) -> Any:
                out = root.numpy.ravel(f(a * s + t * step))
                return root.numpy.sum(out * _weights(out.size).astype(s.dtype))

            return derivatives(root, along)[way](root.numpy.zeros_like(s))

        return [root.vmap(lambda s, way=way: at(s, way)) for way in range(6)]
