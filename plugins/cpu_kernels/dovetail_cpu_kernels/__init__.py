"""Kernels for the CPU that replace XLA's own code where they were measured to be faster."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .library import cpu_kernels as cpu_kernels, cpu_kernels_isa as cpu_kernels_isa
else:
    from dovetail_core import lazy_exports

    __getattr__, __dir__ = lazy_exports(__name__)
