"""``import dovetail.numpy.fft``: the names of dovetail_numpy.fft."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dovetail_core.registry.facade_names import facade_getattr as _facade_getattr

if TYPE_CHECKING:
    from dovetail_numpy.fft import (
        fft as fft,
        fft2 as fft2,
        fftfreq as fftfreq,
        fftn as fftn,
        fftshift as fftshift,
        hfft as hfft,
        ifft as ifft,
        ifft2 as ifft2,
        ifftn as ifftn,
        ifftshift as ifftshift,
        ihfft as ihfft,
        irfft as irfft,
        irfft2 as irfft2,
        irfftn as irfftn,
        rfft as rfft,
        rfft2 as rfft2,
        rfftfreq as rfftfreq,
        rfftn as rfftn,
    )

_WHERE = {
    "fft": ("numpy", "dovetail_numpy.fft:fft"),
    "fft2": ("numpy", "dovetail_numpy.fft:fft2"),
    "fftfreq": ("numpy", "dovetail_numpy.fft:fftfreq"),
    "fftn": ("numpy", "dovetail_numpy.fft:fftn"),
    "fftshift": ("numpy", "dovetail_numpy.fft:fftshift"),
    "hfft": ("numpy", "dovetail_numpy.fft:hfft"),
    "ifft": ("numpy", "dovetail_numpy.fft:ifft"),
    "ifft2": ("numpy", "dovetail_numpy.fft:ifft2"),
    "ifftn": ("numpy", "dovetail_numpy.fft:ifftn"),
    "ifftshift": ("numpy", "dovetail_numpy.fft:ifftshift"),
    "ihfft": ("numpy", "dovetail_numpy.fft:ihfft"),
    "irfft": ("numpy", "dovetail_numpy.fft:irfft"),
    "irfft2": ("numpy", "dovetail_numpy.fft:irfft2"),
    "irfftn": ("numpy", "dovetail_numpy.fft:irfftn"),
    "rfft": ("numpy", "dovetail_numpy.fft:rfft"),
    "rfft2": ("numpy", "dovetail_numpy.fft:rfft2"),
    "rfftfreq": ("numpy", "dovetail_numpy.fft:rfftfreq"),
    "rfftn": ("numpy", "dovetail_numpy.fft:rfftn"),
}
__all__ = [
    "fft",
    "fft2",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "ifft",
    "ifft2",
    "ifftn",
    "ifftshift",
    "ihfft",
    "irfft",
    "irfft2",
    "irfftn",
    "rfft",
    "rfft2",
    "rfftfreq",
    "rfftn",
]

__getattr__ = _facade_getattr(__name__, _WHERE)


def __dir__() -> list[str]:
    return sorted({*globals(), *_WHERE})
