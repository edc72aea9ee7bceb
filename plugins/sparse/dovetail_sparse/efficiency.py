"""What is said where a sparse array is stored, or computed with, inefficiently."""

from __future__ import annotations


class SparseEfficiencyError(ValueError):
    """An operation would make storage much larger, and was not told that it may."""


class SparseEfficiencyWarning(UserWarning):
    """An operation makes storage much larger."""


class CuSparseEfficiencyWarning(SparseEfficiencyWarning):
    """A product cannot be left to the GPU's sparse library, and is computed otherwise."""
