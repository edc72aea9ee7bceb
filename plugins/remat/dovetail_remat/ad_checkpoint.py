"""The namespace ``dovetail.ad_checkpoint``: JAX's names for rematerialisation, and further ones."""

from __future__ import annotations

from . import policies as checkpoint_policies
from .api import Budget, checkpoint, checkpoint_name, remat
from .budget.report import BudgetReport
from .residuals import SavedResidual, print_saved_residuals, saved_residuals
from .verdicts import Offloadable, Recompute, Saveable

__all__ = [
    "Budget",
    "BudgetReport",
    "Offloadable",
    "Recompute",
    "SavedResidual",
    "Saveable",
    "checkpoint",
    "checkpoint_name",
    "checkpoint_policies",
    "print_saved_residuals",
    "remat",
    "saved_residuals",
]
