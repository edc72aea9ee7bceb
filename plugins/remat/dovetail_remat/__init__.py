"""Rematerialisation: computing intermediate values again instead of keeping them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dovetail_core.base.lazy import lazy_exports as _lazy_exports

if TYPE_CHECKING:
    from . import (
        policies as checkpoint_policies,
    )
    from .api import (
        Budget as Budget,
        checkpoint as checkpoint,
        checkpoint_name as checkpoint_name,
        remat as remat,
    )
    from .budget.costs import (
        CostRule as CostRule,
        cost_rules as cost_rules,
        program_flops as program_flops,
    )
    from .budget.report import (
        BudgetReport as BudgetReport,
        Recomputed as Recomputed,
    )
    from .loops.schemes import (
        Binomial as Binomial,
        Online as Online,
        Periodic as Periodic,
    )
    from .residuals import (
        SavedResidual as SavedResidual,
        print_saved_residuals as print_saved_residuals,
        saved_residuals as saved_residuals,
    )
    from .verdicts import (
        Offloadable as Offloadable,
        Recompute as Recompute,
        Saveable as Saveable,
    )

# Written by tools/make_lazy.py from the imports above.
_WHERE = {
    "Binomial": "loops.schemes",
    "Budget": "api",
    "BudgetReport": "budget.report",
    "CostRule": "budget.costs",
    "Offloadable": "verdicts",
    "Online": "loops.schemes",
    "Periodic": "loops.schemes",
    "Recompute": "verdicts",
    "Recomputed": "budget.report",
    "Saveable": "verdicts",
    "SavedResidual": "residuals",
    "checkpoint": "api",
    "checkpoint_name": "api",
    "checkpoint_policies": ":policies",
    "cost_rules": "budget.costs",
    "print_saved_residuals": "residuals",
    "program_flops": "budget.costs",
    "remat": "api",
    "saved_residuals": "residuals",
}
__all__ = [
    "Binomial",
    "Budget",
    "BudgetReport",
    "CostRule",
    "Offloadable",
    "Online",
    "Periodic",
    "Recompute",
    "Recomputed",
    "Saveable",
    "SavedResidual",
    "checkpoint",
    "checkpoint_name",
    "checkpoint_policies",
    "cost_rules",
    "print_saved_residuals",
    "program_flops",
    "remat",
    "saved_residuals",
]

__getattr__ = _lazy_exports(__name__, _WHERE)


def __dir__() -> list[str]:
    return sorted({*globals(), *_WHERE})
