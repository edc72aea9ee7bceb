"""Minimization of functions."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dovetail_scipy.optimize.bfgs import OptimizeResults as OptimizeResults
    from dovetail_scipy.optimize.minimization import minimize as minimize
else:
    from dovetail_core import lazy_exports

    __getattr__, __dir__ = lazy_exports(__name__)
