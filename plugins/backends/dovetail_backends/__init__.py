"""Backends: CPU, CUDA, ROCm and TPU through PJRT, and the NumPy reference."""

from .tables import (
    ReferenceRule as ReferenceRule,
    StablehloRule as StablehloRule,
    reference_rules as reference_rules,
    stablehlo_rules as stablehlo_rules,
)
