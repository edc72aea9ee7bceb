"""The cost model: the work of operations and programs, by the rule table ``remat.cost``."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .model import (
        CostRule as CostRule,
        Work as Work,
        cost_rules as cost_rules,
        nbytes as nbytes,
        program_flops as program_flops,
        size as size,
        work as work,
    )
else:
    from dovetail_core import lazy_exports

    __getattr__, __dir__ = lazy_exports(__name__)
