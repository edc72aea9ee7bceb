"""Where kernels are used: an option, and what XLA does with the operation around them."""

from __future__ import annotations

from typing import Any

from dovetail_base.options import as_bool
from dovetail_core import Option, config

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
"""What kernels calculate with."""

SETS = ("baseline", "avx2", "avx512")


def _set(value: Any) -> str:
    if value not in SETS:
        raise ValueError(f"expected one of {', '.join(map(repr, SETS))}, got {value!r}")
    return value


cpu_kernels_isa = config.add(
    Option(
        "cpu_kernels_isa",
        "avx512",
        "The latest instruction set that kernels may use where the machine has it: 'baseline', "
        "'avx2', 'avx512'. Set it before the CPU is first used.",
        check=_set,
    )
)


def serves(b: Any) -> bool:
    """Whether kernels can serve what the builder ``b`` writes: on the CPU, and not divided among
    devices, which XLA cannot do to foreign functions."""
    return b.platform == "cpu" and cpu_kernels.value and not b.is_divided
