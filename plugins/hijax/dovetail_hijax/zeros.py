"""JAX's names for what ``dovetail_ad`` has of zeros and linear operands."""

from __future__ import annotations

from dovetail_ad import SymbolicZero, is_linear

Zero = SymbolicZero
is_undefined_primal = is_linear
