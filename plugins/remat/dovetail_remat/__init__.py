"""Rematerialisation: computing intermediate values again instead of keeping them."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dovetail_cost import (
        CostRule as CostRule,
        cost_rules as cost_rules,
        nbytes as nbytes,
        program_flops as program_flops,
        work as work,
    )

    from .budget.report import BudgetReport as BudgetReport, Recomputed as Recomputed
    from .public import *  # noqa: F403
    from .residuals import (
        SavedResidual as SavedResidual,
        print_saved_residuals as print_saved_residuals,
        saved_residuals as saved_residuals,
    )
    from .verdicts import Offloadable as Offloadable, Recompute as Recompute, Saveable as Saveable
else:
    from dovetail_core import lazy_exports

    __getattr__, __dir__ = lazy_exports(__name__)
