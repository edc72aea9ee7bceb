"""``import dovetail.ad_checkpoint``: the names of dovetail_remat.ad_checkpoint."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dovetail_core.registry.facade_names import facade_getattr as _facade_getattr

if TYPE_CHECKING:
    from dovetail_remat.ad_checkpoint import (
        Budget as Budget,
        BudgetReport as BudgetReport,
        Offloadable as Offloadable,
        Recompute as Recompute,
        Saveable as Saveable,
        SavedResidual as SavedResidual,
        checkpoint as checkpoint,
        checkpoint_name as checkpoint_name,
        checkpoint_policies as checkpoint_policies,
        print_saved_residuals as print_saved_residuals,
        remat as remat,
        saved_residuals as saved_residuals,
    )

_WHERE = {
    "Budget": ("remat", "dovetail_remat.ad_checkpoint:Budget"),
    "BudgetReport": ("remat", "dovetail_remat.ad_checkpoint:BudgetReport"),
    "Offloadable": ("remat", "dovetail_remat.ad_checkpoint:Offloadable"),
    "Recompute": ("remat", "dovetail_remat.ad_checkpoint:Recompute"),
    "Saveable": ("remat", "dovetail_remat.ad_checkpoint:Saveable"),
    "SavedResidual": ("remat", "dovetail_remat.ad_checkpoint:SavedResidual"),
    "checkpoint": ("remat", "dovetail_remat.ad_checkpoint:checkpoint"),
    "checkpoint_name": ("remat", "dovetail_remat.ad_checkpoint:checkpoint_name"),
    "checkpoint_policies": ("remat", "dovetail_remat.ad_checkpoint:checkpoint_policies"),
    "print_saved_residuals": ("remat", "dovetail_remat.ad_checkpoint:print_saved_residuals"),
    "remat": ("remat", "dovetail_remat.ad_checkpoint:remat"),
    "saved_residuals": ("remat", "dovetail_remat.ad_checkpoint:saved_residuals"),
}
__all__ = [
    "Budget",
    "BudgetReport",
    "Offloadable",
    "Recompute",
    "Saveable",
    "SavedResidual",
    "checkpoint",
    "checkpoint_name",
    "checkpoint_policies",
    "print_saved_residuals",
    "remat",
    "saved_residuals",
]

__getattr__ = _facade_getattr(__name__, _WHERE)


def __dir__() -> list[str]:
    return sorted({*globals(), *_WHERE})
