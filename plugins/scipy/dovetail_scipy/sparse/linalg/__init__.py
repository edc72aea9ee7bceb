"""Iterative solvers of linear equations."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dovetail_scipy.sparse.linalg.krylov import bicgstab as bicgstab, cg as cg, gmres as gmres
else:
    from dovetail_core import lazy_exports

    __getattr__, __dir__ = lazy_exports(__name__)
