"""The library of kernels: loaded once, its functions as XLA registers them."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

from dovetail_core import cached
from dovetail_xla import ffi

from .choice import SETS, cpu_kernels_isa

FILE = Path(__file__).with_name("dovetail_cpu_kernels.so")
TARGETS = (
    "dovetail_cpu_channels",
    "dovetail_cpu_cholesky",
    "dovetail_cpu_cumulative",
    "dovetail_cpu_lu",
    "dovetail_cpu_scatter_add",
    "dovetail_cpu_sort",
    "dovetail_cpu_top_k",
    "dovetail_cpu_transpose",
    "dovetail_cpu_triangular_solve",
)
"""The foreign functions: their symbols are the names under which programs call them."""


@cached(permanent="a library is loaded once")
def _library() -> ctypes.CDLL:
    if not FILE.exists():
        raise ImportError(
            f"{FILE} is not there: the kernels of dovetail_cpu_kernels were not built. Install the "
            "wheel of dovetail-cpu-kernels, or build it: pip install ./plugins/cpu_kernels."
        )
    result = ctypes.CDLL(str(FILE))
    result.dovetail_cpu_limit(SETS.index(cpu_kernels_isa.value))
    return result


def targets() -> dict[str, Any]:
    """The foreign functions by name, as capsules.

    Raises:
        ImportError: the library was not built.
        OSError: it cannot be loaded on this machine.
    """
    library = _library()
    return {name: ffi.capsule(getattr(library, name)) for name in TARGETS}
