"""Methods of resampling: how much an element at a distance weighs.

The weights of an output element are a kernel of its distance to the input elements, in units of
input elements, and add up to one. Cubic convolution: R. G. Keys, "Cubic Convolution Interpolation
for Digital Image Processing", IEEE Transactions on Acoustics, Speech, and Signal Processing 29
(1981). Lanczos' kernel: C. E. Duchon, "Lanczos Filtering in One and Two Dimensions", Journal of
Applied Meteorology 18 (1979).
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from functools import partial
from math import pi
from typing import Any

import dovetail_numpy as dnp
from dovetail_core import here


class ResizeMethod(enum.Enum):
    """How values between elements are found."""

    NEAREST = 0
    """The nearest element."""
    LINEAR = 1
    """Linear interpolation."""
    LANCZOS3 = 2
    """Lanczos' windowed sinc that reaches over 3 elements."""
    LANCZOS5 = 3
    """Lanczos' windowed sinc that reaches over 5 elements."""
    CUBIC = 4
    """Keys' cubic convolution, parameter -1/2."""
    CUBIC_PYTORCH = 5
    """As PyTorch's: ``CUBIC`` with antialiasing. Without it, cubic convolution with the parameter
    -3/4, in which elements at the border stand for those beyond it."""
    AREA = 6
    """The mean over the part of the input that an element of the output covers."""

    @staticmethod
    def from_string(s: str) -> ResizeMethod:
        """The method of a name such as ``"bilinear"``.

        Raises:
            ValueError: there is none.
        """
        if s not in _NAMES:
            raise ValueError(
                f"there is no method {s!r} of resizing{here()}. Methods are "
                f"{', '.join(map(repr, _NAMES))}."
            )
        return _NAMES[s]


_NAMES = {
    "nearest": ResizeMethod.NEAREST,
    "linear": ResizeMethod.LINEAR, "bilinear": ResizeMethod.LINEAR,
    "trilinear": ResizeMethod.LINEAR, "triangle": ResizeMethod.LINEAR,
    "lanczos3": ResizeMethod.LANCZOS3, "lanczos5": ResizeMethod.LANCZOS5,
    "cubic": ResizeMethod.CUBIC, "bicubic": ResizeMethod.CUBIC, "tricubic": ResizeMethod.CUBIC,
    "cubic-pytorch": ResizeMethod.CUBIC_PYTORCH, "bicubic-pytorch": ResizeMethod.CUBIC_PYTORCH,
    "area": ResizeMethod.AREA,
}  # fmt: skip


def triangle(x: Any) -> Any:
    """``1 - x`` up to 1, of distances ``x >= 0``."""
    return dnp.maximum(0, 1 - x)


def repeating_cubic(distances: Any) -> Any:
    """Weights of cubic convolution, parameter -3/4, where the border is repeated beyond itself.

    ``distances`` are those of inputs (rows, one element apart) below outputs (columns).
    """
    n = distances.shape[0]
    result = cubic(dnp.abs(distances), -0.75)
    for step in (1, 2):  # as far beyond the border as the kernel reaches from within
        result = result.at[0].add(cubic(dnp.abs(distances[0] + step), -0.75))
        result = result.at[n - 1].add(cubic(dnp.abs(distances[n - 1] - step), -0.75))
    return result


def cubic(x: Any, a: float) -> Any:
    """Keys' kernel with the parameter ``a``: cubics up to 1 and from there to 2."""
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    far = a * (((x - 5) * x + 8) * x - 4)
    return dnp.where(x < 1, near, dnp.where(x < 2, far, 0))


def lanczos(x: Any, radius: float) -> Any:
    """``sinc(x) sinc(x / radius)`` up to ``radius``."""
    inside = (x > 1e-3) & (x < radius)
    y = dnp.where(inside, x, 1) * pi
    out = radius * dnp.sin(y) * dnp.sin(y / radius) / (y * y)
    # near 0 the sines lose digits: 1 - (pi x)^2 (1 + 1 / radius^2) / 6
    least = 1 - (pi * x) ** 2 * (1 + radius**-2) / 6
    return dnp.where(inside, out, dnp.where(x < radius, least, 0))


KERNELS: dict[ResizeMethod, Callable[[Any], Any]] = {
    ResizeMethod.LINEAR: triangle,
    ResizeMethod.LANCZOS3: partial(lanczos, radius=3.0),
    ResizeMethod.LANCZOS5: partial(lanczos, radius=5.0),
    ResizeMethod.CUBIC: partial(cubic, a=-0.5),
    ResizeMethod.CUBIC_PYTORCH: partial(cubic, a=-0.5),
}
