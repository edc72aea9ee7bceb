"""The library of kernels, loaded once, and the options that say whether and how it is used."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

from dovetail_base.environment import one_of
from dovetail_base.options import as_bool
from dovetail_core import Option, cached, config
from dovetail_xla import ffi

cpu_kernels = config.add(
    Option(
        "cpu_kernels",
        True,
        "Programs for the CPU use the kernels of dovetail-cpu-kernels where they are faster than "
        "what XLA makes.",
        check=as_bool,
        traced=True,
    )
)

NUMBERS = ("float32", "float64", "int32", "int64", "uint32", "uint64")
"""The element types that kernels compute with."""

SETS = ("baseline", "avx2", "avx512")


cpu_kernels_isa = config.add(
    Option(
        "cpu_kernels_isa",
        "avx512",
        "The latest instruction set that kernels may use where the machine has it: 'baseline', "
        "'avx2', 'avx512'. Set it before the CPU is first used.",
        check=one_of(SETS),
    )
)


def serves(b: Any) -> bool:
    """Tell whether the builder ``b`` may call kernels: for the CPU, and for one device, since XLA
    cannot divide foreign functions."""
    return b.platform == "cpu" and cpu_kernels.value and not b.is_divided


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
"""The foreign functions; their symbols are the names by which programs call them."""


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
