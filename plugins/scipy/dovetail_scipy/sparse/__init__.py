"""Sparse linear algebra: solvers that need only products of a matrix with vectors."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from . import linalg as linalg
else:
    from dovetail_core import lazy_exports

    __getattr__, __dir__ = lazy_exports(__name__)
