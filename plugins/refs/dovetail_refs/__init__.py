"""Mutable references: arrays that programs read and write in place."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .discharging import discharge_program as discharge_program
    from .ref import *  # noqa: F403
    from .tables import DischargeRule as DischargeRule, discharge_rules as discharge_rules
else:
    from dovetail_core import lazy_exports

    __getattr__, __dir__ = lazy_exports(__name__)
