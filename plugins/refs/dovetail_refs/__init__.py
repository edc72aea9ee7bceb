"""Mutable references: arrays that programs read and write in place."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .discharging import (
        Operands as Operands,
        discharge as discharge,
        discharge_program as discharge_program,
    )
    from .functions import (
        addupdate as addupdate,
        empty_ref as empty_ref,
        free_ref as free_ref,
        freeze as freeze,
        get as get,
        new_ref as new_ref,
        run_state as run_state,
        set as set,
        swap as swap,
    )
    from .tables import DischargeRule as DischargeRule, discharge_rules as discharge_rules
    from .types import AbstractRef as AbstractRef
    from .value import Ref as Ref
    from .views import TransformedRef as TransformedRef
else:
    from dovetail_core import lazy_exports

    __getattr__, __dir__ = lazy_exports(__name__)

__all__ = [
    "Ref",
    "empty_ref",
    "free_ref",
    "freeze",
    "new_ref",
]
