"""Sparse Jacobians: patterns found by a transformation, columns coloured, few derivatives taken."""

from dovetail_core import hide_frames

from .coloring import color as color
from .jacobian import (
    SparseMatrix as SparseMatrix,
    sparse_hessian as sparse_hessian,
    sparse_jacobian as sparse_jacobian,
)
from .pattern import pattern_rules as pattern_rules, sparsity as sparsity

__all__ = ["color", "sparse_hessian", "sparse_jacobian", "sparsity"]

hide_frames(__name__)  # a mistake is in the line that uses this package
