"""Derivatives along a direction, and the cost of a program."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .along import along as along
    from .cost import cost as cost
else:
    from dovetail_core import lazy_exports

    __getattr__, __dir__ = lazy_exports(__name__)
