"""Reverse mode of loops with a bounded number of kept states."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .schemes import (
        Binomial as Binomial,
        Cut as Cut,
        Numbers as Numbers,
        Online as Online,
        Periodic as Periodic,
        Scheme as Scheme,
    )
else:
    from dovetail_core import lazy_exports

    __getattr__, __dir__ = lazy_exports(__name__)
